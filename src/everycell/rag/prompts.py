"""Prompts that ask for an answer with citations, with and without the authors of documents.

The wording is our own; the prompts of abolghasemi2026 are in Figures 5.2 (without authors) and 5.7.
A custom template is a file with the slots `SLOTS` (`everycell.language_models.templates`).

A document is one line, ``[3] text`` or ``[3] (author: Human) text``. A section ``### document``
before the messages of a template defines another layout, with the slots `DOCUMENT_SLOTS`. The
layout of the thesis is ``Document [$number]($text) (written by $author)``. In any layout, line
breaks in a document become blanks and its bracketed references are removed, so that they cannot be
mistaken for another document or a citation. Words such as "Document 2" are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

from everycell.base.text_files import read_text_file
from everycell.base.untrusted import in_quotes
from everycell.language_models import templates
from everycell.language_models.generation import Message
from everycell.rag.citations import without_citations
from everycell.rag.draws import named_draws

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
        raise ValueError(f"{path} cannot be read as text ({error}); use another file.") from None
    names = [line.strip() for line in text.splitlines()]
    names = [name for name in names if name]
    if not names:
        raise ValueError(f"{path} contains no names; write one per line.")
    for index, name in enumerate(names):
        if name in names[:index] or set(name) & set("()[]"):
            raise ValueError(
                f"{path}: the name {in_quotes(name)} occurs twice or has a bracket; remove it."
            )
    return names


def document_lines(
    texts: Sequence[str], authors: Sequence[str], layout: Template | None = None
) -> str:
    """Format documents for a prompt."""
    if not texts or len(texts) != len(authors):
        raise ValueError(
            f"There are {len(texts)} documents and {len(authors)} authors; give one author per "
            "document, and at least one document."
        )
    lines = []
    for number, (text, author) in enumerate(zip(texts, authors, strict=True), start=1):
        content = " ".join(without_citations(text).split())
        if not content:
            raise ValueError(f"Document {number} has no text; exclude the question.")
        if layout is None:
            label = f"(author: {author}) " if author else ""
            lines.append(f"[{number}] {label}{content}")
        elif ("author" in layout.get_identifiers()) != bool(author):
            raise ValueError(
                f"The layout of documents is {layout.template!r}, but document {number} has "
                f"{'an' if author else 'no'} author; use $author if and only if documents have one."
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
    for label in labels:
        if label and label not in LABELS:
            raise ValueError(f"A document has the label {label!r}; expected 'Human', 'LLM' or ''.")
    if not names:
        return [words[label] if label else "" for label in labels]
    if not all(name.strip() for name in names):
        raise ValueError("The list of names has a blank entry; remove it.")
    drawn = named_draws(key).integers(len(names), size=len(labels))
    people = (names[index] for index in drawn)
    return [
        {"Human": person, "LLM": machine, "": ""}[label]
        for label, person in zip(labels, people, strict=True)
    ]
