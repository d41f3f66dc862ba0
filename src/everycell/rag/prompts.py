"""Questions with exactly one gold document among the documents of the prompt."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.base.text_files import read_text_file
from everycell.language_models import templates
from everycell.language_models.generation import Message
from everycell.rag.citations import without_citations
from everycell.trec.runs import trec_order

GoldPosition = Literal["retrieved", "random"]
#: Reason for excluding a question -> explanation.
FAULTS = {
    "no gold": "no relevant document is known",
    "several gold": "more than one relevant document is known",
    "not retrieved": "the relevant document is not among the top k",
    "too few documents": "fewer than k were retrieved",
}


class Question(NamedTuple):
    """A question with the documents of its prompt; `gold` is a position from 1."""

    id: str
    documents: tuple[str, ...]
    gold: int


def pick_questions(
    run: pd.DataFrame,
    relevant: pd.DataFrame,
    *,
    k: int,
    gold_position: GoldPosition = "retrieved",
    seed: int = 0,
) -> tuple[list[Question], Counter[str]]:
    """Questions with one relevant document among the top k, and counts of excluded ones."""
    if k < 1:
        raise DataError(column="k", value=k, expected="at least one document")
    if gold_position not in ("retrieved", "random"):
        raise DataError(
            column="gold_position", value=gold_position, expected="'retrieved' or 'random'"
        )
    lists = trec_order(run).groupby("query")["document"].agg(list)
    relevant_by_query = relevant.groupby("query")["document"].agg(set)
    picked, faults = [], Counter[str]()
    for query in sorted({*lists.index, *relevant_by_query.index}):
        gold, ranked = relevant_by_query.get(query, set()), lists.get(query, [])
        if len(gold) != 1:
            faults["several gold" if gold else "no gold"] += 1
            continue
        (answer,) = gold
        distractors = [document for document in ranked if document != answer]
        if gold_position == "random":
            position = int(named_draws(f"{seed}\t{query}").integers(k))
            documents = distractors[: k - 1]
            documents.insert(position, answer)
        else:
            documents = ranked[:k]
        if len(documents) < k:
            faults["too few documents"] += 1
        elif answer not in documents:
            faults["not retrieved"] += 1
        else:
            picked.append(Question(str(query), tuple(documents), documents.index(answer) + 1))
    return picked, faults


def named_draws(name: str) -> np.random.Generator:
    """Random generator that depends only on a name, such as a seed and a question."""
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


_FOLDER = Path(__file__).parent / "templates"
#: Template without authors (Vanilla), and the one with them (all other modes).
PLAIN_TEMPLATE = _FOLDER / "cited_answer.txt"
AUTHORS_TEMPLATE = _FOLDER / "cited_answer_authors.txt"
SLOTS: templates.Slots = {
    "documents": ("the documents, one per line", True),
    "question": ("the question", True),
}
#: Slots of the layout of a document.
DOCUMENT_SLOTS: templates.Slots = {
    "number": ("the number to cite", True),
    "text": ("the text", True),
    "author": ("the author to display", False),
}
_DOCUMENT = re.compile(r"\s*^### document[ \t]*\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
#: File of people's names for the extended labels, one per line.
NAMES = Path(__file__).parent / "names.txt"
#: Label of a document (it may have none) -> its wording in prompts.
LABELS: Mapping[str, str] = {"Human": "Human", "LLM": "LLM"}
#: Wording of the label "LLM" in prompts with names of people.
MACHINE = "AI"


class PromptTemplate(NamedTuple):
    """A prompt template: its messages, and the layout of a document, if it has one."""

    messages: Template
    document: Template | None


def read_template(path: Path = PLAIN_TEMPLATE) -> PromptTemplate:
    """Read a template: messages with `SLOTS`, optionally after a section ``### document``."""
    text = templates.template_text(path)
    document = None
    if (section := _DOCUMENT.match(text)) is not None:
        document = Template(section[1].strip("\n"))
        templates.check_slots(document, path, DOCUMENT_SLOTS)
        text = text[section.end() :]
    return PromptTemplate(templates.parse_template(text, path, SLOTS, last="question"), document)


def read_names(path: Path = NAMES) -> list[str]:
    """People's names for the extended labels."""
    try:
        text = read_text_file(path)
    except OSError as error:
        raise DataError(
            path, fault=f"cannot be read as text ({error})", fix="use another file"
        ) from None
    names = [line.strip() for line in text.splitlines()]
    names = [name for name in names if name]
    if not names:
        raise DataError(path, fault="contains no names", fix="write one per line")
    for index, name in enumerate(names):
        if name in names[:index] or set(name) & set("()[]"):
            raise DataError(
                path,
                column="name",
                value=name,
                fault="which occurs twice or has a bracket",
                fix="remove it",
            )
    return names


def document_lines(
    texts: Sequence[str], authors: Sequence[str], layout: Template | None = None
) -> str:
    """Format documents for a prompt."""
    lines = []
    for number, (text, author) in enumerate(zip(texts, authors, strict=True), start=1):
        content = " ".join(without_citations(text).split())
        if not content:
            raise DataError(
                row=f"document {number}", fault="has no text", fix="exclude the question"
            )
        if layout is None:
            label = f"(author: {author}) " if author else ""
            lines.append(f"[{number}] {label}{content}")
        elif ("author" in layout.get_identifiers()) != bool(author):
            raise DataError(
                row=f"document {number}",
                column="layout",
                value=layout.template,
                fault=f"but the document has {'an' if author else 'no'} author",
                fix="use $author if and only if documents have one",
            )
        else:
            lines.append(layout.substitute(number=number, text=content, author=author))
    return "\n".join(lines)


def cited_answer_prompt(
    template: PromptTemplate, question: str, texts: Sequence[str], authors: Sequence[str]
) -> tuple[Message, ...]:
    """Messages that ask for an answer with citations."""
    return templates.fill(
        template.messages,
        documents=document_lines(texts, authors, template.document),
        question=" ".join(question.split()),
    )


def author_texts(
    labels: Sequence[str],
    *,
    names: Sequence[str] = (),
    key: str = "",
    words: Mapping[str, str] = LABELS,
    machine: str = MACHINE,
) -> list[str]:
    """Authors as shown in a prompt: labels, or extended labels (appendix 5.C)."""
    if not names:
        return [words[label] if label else "" for label in labels]
    drawn = named_draws(key).integers(len(names), size=len(labels))
    people = (names[index] for index in drawn)
    return [
        {"Human": person, "LLM": machine, "": ""}[label]
        for label, person in zip(labels, people, strict=True)
    ]
