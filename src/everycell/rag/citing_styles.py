"""Citing styles: prompts for answers with citations, and parsers of the answers.

In the style "sentences", numbers in brackets follow sentences. In the style "spans", marks surround
words, as in the grounded template of Command-R. A model that was trained for it first lists the
relevant documents and those that it will cite, then answers, and repeats the answer with marks
around the parts that come from documents::

    Relevant Documents: 0,2
    Cited Documents: 2
    Answer: The town lies in Holland.
    Grounded answer: The town lies <co: 2>in Holland</co: 2>.

Models do not always follow it. Deviations are handled as follows:

======================================  ====================================================
line breaks in a span                   become blanks
a mark closed with other numbers        the numbers of the opening mark count
a mark that is not closed               the span ends with its sentence
a closing mark without an opening one   is ignored
nested marks                            each is a span
a mark around no text                   is ignored
a number of a non-existent document     is *stray*, and cites nothing
no ``Grounded answer``                  ``Answer`` is used, or the whole unlabelled output
======================================  ====================================================

Source: heuss2025, section 5.4; the format is that of the model's own chat template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from string import Template
from typing import Literal, NamedTuple, get_args

from everycell.base.errors import DataError
from everycell.language_models import templates
from everycell.language_models.generation import Grounded, Message
from everycell.language_models.reasoning import without_reasoning
from everycell.rag import prompts
from everycell.rag.cited_sentences import cited_sentences, split_answer
from everycell.rag.interventions import CitedAnswer, Statement
from everycell.rag.prompts import document_lines

#: Our own prompt, for models without such a template.
TEMPLATE = Path(__file__).parent / "templates" / "grounded_answer.txt"
SLOTS: templates.Slots = {
    "documents": ("the documents, one per line", True),
    "question": ("the question", True),
}
_PARTS = ("relevant documents", "cited documents", "answer", "grounded answer")
_LABEL = re.compile(rf"^[ \t*#]*({'|'.join(_PARTS)})[ \t*]*:", re.IGNORECASE | re.MULTILINE)
_MARK = re.compile(r"<(?P<close>/)?co\b[ \t]*+:?(?P<numbers>[\d,;\s]*+)>", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,6}")


class GroundedAnswer(NamedTuple):
    """A parsed answer, with its number of sentences, stray numbers and repaired marks."""

    answer: CitedAnswer
    sentences: int
    stray: tuple[int, ...] = ()
    mended: int = 0


class _Open(NamedTuple):
    numbers: tuple[int, ...]
    start: int


def read_grounded(output: str, k: int, *, first: int = 0) -> GroundedAnswer:
    """Parse an answer with marked spans."""
    output = without_reasoning(output)
    parts = _parts(output)
    relevant, to_cite = (_numbers(parts.get(name, "").split("\n")[0]) for name in _PARTS[:2])
    marked = parts.get(_PARTS[3])
    if marked is None:
        # A server may omit the labels.
        marked = parts.get(_PARTS[2], output if not parts else "")
    text, spans, mended = _spans(marked)
    numbers_in_text = [*relevant, *to_cite, *(number for numbers, _ in spans for number in numbers)]
    known = range(first, first + k)

    def positions(numbers: Sequence[int]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(number - first for number in numbers if number in known))

    statements = tuple(Statement(span, positions(numbers)) for numbers, span in spans)
    line = " ".join(text.split())
    return GroundedAnswer(
        CitedAnswer(statements, positions(relevant), positions(to_cite), line),
        len(split_answer(line)),
        tuple(dict.fromkeys(number for number in numbers_in_text if number not in known)),
        mended,
    )


def _parts(output: str) -> dict[str, str]:
    """Text after each label; if a label is repeated, the last one counts."""
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
        ends = [sentence.end for sentence in split_answer(text) if sentence.end > mark.start]
        close(mark, ends[0] if ends else len(text))
    ordered = sorted(spans, key=lambda span: span[0])
    return text, [(numbers, span) for _, numbers, span in ordered], mended


def read_template(path: Path = TEMPLATE) -> Template:
    """Read a prompt template for grounded answers, with the slots `SLOTS`."""
    return templates.read_template(path, SLOTS, last="question")


def grounded_prompt(template: Template, question: str, texts: Sequence[str]) -> tuple[Message, ...]:
    """Messages that ask for a grounded answer with our prompt; documents start at 1."""
    return templates.fill(
        template,
        documents=document_lines(texts, [""] * len(texts)),
        question=" ".join(question.split()),
    )


def own_template_prompt(question: str, texts: Sequence[str]) -> tuple[Message, ...]:
    """Messages for a model with its own grounded template, which formats the documents."""
    contents = tuple(" ".join(text.split()) for text in texts)
    return (Grounded(role="user", content=" ".join(question.split()), documents=contents),)


#: "sentences": numbers in brackets after sentences. "spans": marks around words, with our own
#: prompt. "own template": the same, with the template of a model trained for it (Command-R).
StyleName = Literal["sentences", "spans", "own template"]
STYLES: tuple[StyleName, ...] = get_args(StyleName)


class CitingStyle(NamedTuple):
    """Prompt of a citing style, and parser of the answers."""

    prompt: Callable[[str, Sequence[str]], tuple[Message, ...]]
    read: Callable[[str, int], GroundedAnswer]


def citing_style(name: str, template: Path | None = None) -> CitingStyle:
    """Return a citing style by its name."""
    if name not in STYLES:
        raise DataError(column="citing style", value=name, expected=f"one of {', '.join(STYLES)}")
    if name == "own template":
        if template is not None:
            raise DataError(
                template,
                fault="is a prompt, which the style 'own template' does not use",
                fix="omit the prompt, or use the style 'spans'",
            )
        return CitingStyle(_with_texts(own_template_prompt), read_grounded)
    if name == "spans":
        prompt_template = read_template(template or TEMPLATE)
        prompt = partial(grounded_prompt, prompt_template)
        return CitingStyle(_with_texts(prompt), partial(read_grounded, first=1))
    plain = prompts.read_template(template or prompts.PLAIN_TEMPLATE)

    def sentence_prompt(question: str, texts: Sequence[str]) -> tuple[Message, ...]:
        return prompts.cited_answer_prompt(plain, question, texts, [""] * len(texts))

    return CitingStyle(_with_texts(sentence_prompt), _read_sentences)


def _with_texts(
    prompt: Callable[[str, Sequence[str]], tuple[Message, ...]],
) -> Callable[[str, Sequence[str]], tuple[Message, ...]]:
    def build(question: str, texts: Sequence[str]) -> tuple[Message, ...]:
        # A document may have consisted only of the removed statement.
        return prompt(question, [text if text.strip() else "(empty)" for text in texts])

    return build


def _read_sentences(output: str, k: int) -> GroundedAnswer:
    return GroundedAnswer(cited_sentences(output, k), len(split_answer(output)))
