"""Cited documents of generated answers, and answers without citations.

`everycell.rag.citation_marks` lists the forms of citations that are read. `divide_citations`
separates the numbers of documents from *stray* ones, such as ``[0]`` and ``[2015]``. A ``[3]`` that
an answer copies from a document cannot be distinguished from a citation; prompts can avoid this by
removing such marks from documents (`without_citations`).

The running time is linear in the length of the text (in `without_citations`, for each level of
nested brackets).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from everycell.language_models.generation import Answer, NotOfferedError
from everycell.language_models.reasoning import reasoning_spans
from everycell.rag.citation_marks import (
    BRACKETS,
    YEARS,
    AnswerParts,
    Citation,
    Forms,
    answer_parts,
    citation_marks,
    parse_list,
)

#: Beginning and end of a cited text in answers of Gemini.
_CITED_SPAN = re.compile(r"\[cite_(?:start|end)\][ \t]?", re.IGNORECASE)


class Cited(NamedTuple):
    """Distinct citations of an answer, in the order of the text.

    `documents` has the numbers of existing documents, `stray` those without a document.
    """

    documents: tuple[int, ...]
    stray: tuple[int, ...]


def find_citations(text: str, *, forms: Forms = "all") -> list[Citation]:
    """Find all citations in a text, in order, including repeated ones.

    Parameters
    ----------
    text : str
        Answer of any length; it may be empty.
    forms : {"all", "plain"}
        All forms that `everycell.rag.citation_marks` lists, or only ``[1]``, as in the authors'
        library.

    Examples
    --------
    >>> [citation.number for citation in find_citations("Delft [2], says Document 4 [1, 3][2015].")]
    [2, 4, 1, 3, 2015]
    >>> [citation.number for citation in find_citations("Since 1842 [1–3] and not [a] or [-1].")]
    [1, 2, 3]
    >>> [citation.number for citation in find_citations("[1, 2][3]", forms="plain")]
    [3]
    """
    return [citation for mark in citation_marks(text, forms=forms) for citation in mark.citations]


def source_list_of(text: str) -> str:
    """List of sources of an answer, whose marks are not citations; empty if none."""
    return "\n".join(text[start:end] for start, end in answer_parts(text).lists)


def divide_citations(citations: Sequence[Citation], k: int, *, first: int = 1) -> Cited:
    """Divide citations into numbers of the `k` documents and stray numbers.

    The number of the first document is 1 in the thesis's prompts and 0 in the authors' library.
    """
    numbers = dict.fromkeys(citation.number for citation in citations)
    inside = tuple(number for number in numbers if first <= number < first + k)
    return Cited(inside, tuple(number for number in numbers if number not in inside))


def uncited_text(text: str, k: int) -> str:
    """An answer without its reasoning, lists of sources and citations.

    Years without a document of that number stay, and so do numbers that are part of a sentence
    ("Document 2").
    """
    parts = answer_parts(text)
    return remove_spans(
        text, [*reasoning_spans(text), *parts.lists, *spans_to_remove(parts, text, k)]
    )


def spans_to_remove(parts: AnswerParts, text: str, k: int) -> list[tuple[int, int]]:
    """Marks that are not part of a sentence, each with the blank before it."""
    return [match.span() for match in _CITED_SPAN.finditer(parts.visible)] + [
        (mark.start - (text[mark.start - 1 : mark.start] in (" ", "\t")), mark.end)
        for mark in parts.marks
        if not mark.is_word and not _has_year(mark.citations, k)
    ]


def remove_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Remove spans, in any order, from a text."""
    pieces, end = [], 0
    for start, stop in sorted(spans):
        pieces.append(text[end:start])
        end = max(end, stop)
    return "".join([*pieces, text[end:]])


def _has_year(citations: Sequence[Citation], k: int) -> bool:
    return any(citation.number in YEARS and citation.number > k for citation in citations)


def without_citations(text: str, *, k: int | None = None) -> str:
    """Remove bracketed citations from a document or answer, with the blank before each.

    In contrast to `uncited_text`, all brackets with numbers are removed, in code and maths too: a
    model may copy them from a document.
    """

    def replace(match: re.Match[str]) -> str:
        cited = parse_list(match[1], 0)
        return "" if cited and (k is None or not _has_year(cited, k)) else match[0]

    # Removing one may create another: "[[9]3]".
    previous = None
    while text != previous:
        previous, text = text, re.sub(rf"[ \t]?{BRACKETS.pattern}", replace, text)
    return text


def may_cite(token: str) -> bool:
    """Whether a token may be part of a citation, so that its probability is kept."""
    return any(character.isnumeric() for character in token)


def written_citations(citations: Sequence[Citation], text: str) -> list[Citation]:
    """Citations whose number is written in the text: all but those within a range."""
    return [citation for citation in citations if text[citation.start].isnumeric()]


def citation_logprobs(answer: Answer, citations: Sequence[Citation]) -> list[float]:
    """Log-probability of each written citation: the sum over the tokens with its digits."""
    if answer.tokens is None:
        raise NotOfferedError(
            "An answer has no log-probabilities, so its confidence cannot be computed; request "
            "them with `logprobs: true`, from a model that offers them."
        )
    written = written_citations(citations, answer.text)
    totals = [0.0] * len(written)
    start, first = 0, 0
    for token in answer.tokens:
        end = start + len(token.text)
        # Citations are sorted, so those before this token are complete.
        while first < len(written) and written[first].end <= start:
            first += 1
        cursor = first
        while cursor < len(written) and written[cursor].start < end:
            if token.logprob is None:
                raise NotOfferedError(
                    f"The probability of {token.text!r} in an answer was not recorded or not sent "
                    "by the server, so its confidence cannot be computed; use a model or a server "
                    "that offers all probabilities."
                )
            totals[cursor] += token.logprob
            cursor += 1
        start = end
    return totals
