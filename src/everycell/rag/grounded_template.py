"""Answers whose cited spans are marked: the grounded template of Command-R, read and asked for.

A model that was trained for it first says which documents are relevant and which it will cite, then
answers, and answers again with marks around the parts that come from documents::

    Relevant Documents: 0,2
    Cited Documents: 2
    Answer: The town lies in Holland.
    Grounded answer: The town lies <co: 2>in Holland</co: 2>.

Models do not always follow it. Deviations are read as follows:

======================================  ====================================================
a span with line breaks                 the breaks are blanks
a mark closed with other numbers        those of the opening mark count
a mark that is not closed               the span ends with its sentence
a closing mark that was not opened      is left out
marks in marks                          a span each
a mark around nothing, or blanks        is left out, and is not counted
a number of a non-existent document     is *stray*, and cites nothing
no ``Grounded answer``                  an answer that cites nothing
======================================  ====================================================

Source: heuss2025, section 5.4; the form is that of the model's own chat template.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

from everycell.language_models import templates
from everycell.language_models.generation import Grounded, Message
from everycell.rag.interventions import CitedAnswer, Statement
from everycell.rag.prompts import document_lines
from everycell.text.sentences import sentence_spans

#: The project's own prompt, for models without such a template.
TEMPLATE = Path(__file__).parent / "templates" / "grounded_answer.txt"
SLOTS: templates.Slots = {
    "documents": ("the documents, a line each", True),
    "question": ("the question", True),
}
_PARTS = ("relevant documents", "cited documents", "answer", "grounded answer")
_LABEL = re.compile(rf"^[ \t*#]*({'|'.join(_PARTS)})[ \t*]*:", re.IGNORECASE | re.MULTILINE)
_MARK = re.compile(r"<(?P<close>/)?co\b[ \t]*:?(?P<numbers>[\d,;\s]*)>", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,6}")


class GroundedAnswer(NamedTuple):
    """An answer as parsed."""

    answer: CitedAnswer
    sentences: int
    stray: tuple[int, ...] = ()
    mended: int = 0


class _Open(NamedTuple):
    numbers: tuple[int, ...]
    start: int


def read_grounded(output: str, k: int, *, first: int = 0) -> GroundedAnswer:
    """Read an answer with marked spans."""
    parts = _parts(output)
    relevant, to_cite = (_numbers(parts.get(name, "").split("\n")[0]) for name in _PARTS[:2])
    marked = parts.get(_PARTS[3])
    if marked is None:
        # A server may leave the labels out; what is marked is the grounded answer then.
        marked = parts.get(_PARTS[2], output if not parts else "")
    text, spans, mended = _spans(marked)
    written = [*relevant, *to_cite, *(number for numbers, _ in spans for number in numbers)]
    known = range(first, first + k)

    def positions(numbers: Sequence[int]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(number - first for number in numbers if number in known))

    statements = tuple(Statement(span, positions(numbers)) for numbers, span in spans)
    line = " ".join(text.split())
    return GroundedAnswer(
        CitedAnswer(statements, positions(relevant), positions(to_cite), line),
        len(sentence_spans(line)),
        tuple(dict.fromkeys(number for number in written if number not in known)),
        mended,
    )


def _parts(output: str) -> dict[str, str]:
    """Text after each label; of two equal labels the last counts."""
    labels = list(_LABEL.finditer(output))
    ends = [*(label.start() for label in labels[1:]), len(output)][: len(labels)]
    return {
        label[1].lower(): output[label.end() : end].strip()
        for label, end in zip(labels, ends, strict=True)
    }


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(number) for number in _NUMBER.findall(text)))


def _spans(marked: str) -> tuple[str, list[tuple[tuple[int, ...], str]], int]:
    """Text without marks, the spans in order of their start, and the number of repaired marks."""
    text, end, mended = "", 0, 0
    opened: list[_Open] = []
    spans: list[tuple[int, tuple[int, ...], str]] = []

    def close(mark: _Open, until: int) -> None:
        span = " ".join(text[mark.start : until].split())
        if span:
            spans.append((mark.start, mark.numbers, span))

    for match in _MARK.finditer(marked):
        text += marked[end : match.start()]
        end = match.end()
        numbers = _numbers(match["numbers"])
        if not match["close"]:
            opened.append(_Open(numbers, len(text)))
        elif opened:
            own = [index for index, mark in enumerate(opened) if mark.numbers == numbers]
            mended += not own and bool(numbers)
            close(opened.pop(own[-1] if own else -1), len(text))
    text += marked[end:]
    for mark in opened:
        mended += 1
        ends = [stop for _, stop in sentence_spans(text) if stop > mark.start]
        close(mark, ends[0] if ends else len(text))
    ordered = sorted(spans, key=lambda span: span[0])
    return text, [(numbers, span) for _, numbers, span in ordered], mended


def read_template(path: Path = TEMPLATE) -> Template:
    """Read a prompt that asks for such an answer, with the slots `SLOTS`."""
    return templates.read_template(path, SLOTS, last="question")


def grounded_prompt(template: Template, question: str, texts: Sequence[str]) -> tuple[Message, ...]:
    """Messages that ask for such an answer with the project's prompt; documents count from 1.

    Examples
    --------
    >>> request = grounded_prompt(read_template(), "Where?", ["In Holland."])
    >>> request[-1].content.splitlines()[-3:]
    ['[1] In Holland.', '', 'Question: Where?']
    """
    return templates.fill(
        template,
        documents=document_lines(texts, [""] * len(texts)),
        question=" ".join(question.split()),
    )


def own_template_prompt(question: str, texts: Sequence[str]) -> tuple[Message, ...]:
    """Messages for a model with its own grounded template, which shows the documents."""
    contents = tuple(" ".join(text.split()) for text in texts)
    return (Grounded(role="user", content=" ".join(question.split()), documents=contents),)
