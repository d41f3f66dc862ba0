"""Prompts that ask for an answer with citations, with and without the authors of documents.

The words are this project's; abolghasemi2026 has its own in Figures 5.2 (no authors) and 5.7. A
template of your own is a file with the slots `SLOTS` (`everycell.language_models.templates`).

A document is one line, ``[3] text`` or ``[3] (author: Human) text``, unless the template has a
section ``### document`` before its messages, which then says how each is shown, with the slots
`DOCUMENT_SLOTS`. The layout of the thesis is ``Document [$number]($text) (written by $author)``.
Whatever the layout, a document's own line breaks become blanks and its marks of references are
taken out, so that no document can pass for another one, and no mark in brackets of its own for a
citation. Its words stay: one that says "Document 2", or begins like a label, is shown so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

from everycell.engine.text_files import whole_text
from everycell.engine.untrusted import in_quotes
from everycell.language_models import templates
from everycell.language_models.generation import Message
from everycell.rag.citations import without_citations
from everycell.rag.draws import named_draws

_FOLDER = Path(__file__).parent / "templates"
#: Template without authors (Vanilla), and the one with them (all other modes).
PLAIN_TEMPLATE = _FOLDER / "cited_answer.txt"
AUTHORS_TEMPLATE = _FOLDER / "cited_answer_authors.txt"
SLOTS: templates.Slots = {
    "documents": ("the documents, a line each", True),
    "question": ("the question", True),
}
#: Slots of the section that says how a document is shown.
DOCUMENT_SLOTS: templates.Slots = {
    "number": ("the number that is cited", True),
    "text": ("the text", True),
    "author": ("who is said to have written it", False),
}
_DOCUMENT = re.compile(r"\s*^### document[ \t]*\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
#: People's names for the extended labels, a line each.
NAMES = Path(__file__).parent / "names.txt"
#: Labels that a document may bear, beside none -> how a prompt says them.
LABELS: Mapping[str, str] = {"Human": "Human", "LLM": "LLM"}
#: Label of language models in prompts that give the names of people.
MACHINE = "AI"


class PromptTemplate(NamedTuple):
    """A template of prompts."""

    messages: Template
    document: Template | None


def read_template(path: Path = PLAIN_TEMPLATE) -> PromptTemplate:
    """Read a template: messages with `SLOTS`, perhaps after a section ``### document``."""
    text = templates.read_text(path)
    document = None
    if (section := _DOCUMENT.match(text)) is not None:
        document = Template(section[1].strip("\n"))
        templates.check_slots(document, path, DOCUMENT_SLOTS)
        text = text[section.end() :]
    return PromptTemplate(templates.parse_template(text, path, SLOTS, last="question"), document)


def read_names(path: Path = NAMES) -> list[str]:
    """People's names for the extended labels."""
    try:
        text = whole_text(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be read as text ({error}); name another file.") from None
    names = [line.strip() for line in text.splitlines()]
    names = [name for name in names if name]
    if not names:
        raise ValueError(f"{path} has no name; write one on each line.")
    for index, name in enumerate(names):
        if name in names[:index] or set(name) & set("()[]"):
            raise ValueError(
                f"{path} has {in_quotes(name)}, which occurs twice or has a bracket; take it out."
            )
    return names


def document_lines(
    texts: Sequence[str], authors: Sequence[str], layout: Template | None = None
) -> str:
    """Documents as a prompt shows them."""
    if not texts or len(texts) != len(authors):
        raise ValueError(
            f"There are {len(texts)} documents and {len(authors)} authors; give one of each, and "
            "one document or more."
        )
    lines = []
    for number, (text, author) in enumerate(zip(texts, authors, strict=True), start=1):
        content = " ".join(without_citations(text).split())
        if not content:
            raise ValueError(f"Document {number} has no text; leave the question out.")
        if layout is None:
            label = f"(author: {author}) " if author else ""
            lines.append(f"[{number}] {label}{content}")
        elif ("author" in layout.get_identifiers()) != bool(author):
            raise ValueError(
                f"The layout of documents is {layout.template!r}, and document {number} has "
                f"{'an' if author else 'no'} author; use $author only where authors are named."
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


def shown_authors(
    labels: Sequence[str],
    *,
    names: Sequence[str] = (),
    key: str = "",
    words: Mapping[str, str] = LABELS,
    machine: str = MACHINE,
) -> list[str]:
    """Text on an author in a prompt: the label itself, or the extended one (appendix 5.C)."""
    for label in labels:
        if label and label not in LABELS:
            raise ValueError(f"A document has the label {label!r}; expected 'Human', 'LLM' or ''.")
    if not names:
        return [words[label] if label else "" for label in labels]
    if not all(name.strip() for name in names):
        raise ValueError("The list of names has a blank one; take it out.")
    drawn = named_draws(key).integers(len(names), size=len(labels))
    people = (names[index] for index in drawn)
    return [
        {"Human": person, "LLM": machine, "": ""}[label]
        for label, person in zip(labels, people, strict=True)
    ]
