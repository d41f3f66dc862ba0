r"""Sentences of answers with citations, and the documents that each of them cites.

The sentences are those of Punkt (`everycell.text.sentences`) in the text without its marks, with
these rules, which hold for answers only; the papers' data keep Punkt's sentences:

- Marks after the end of a sentence belong to it, however many there are, and after line breaks too:
  "Owls hunt. [1][2]" is one sentence.
- Marks before a sentence belong to it at the beginning of a paragraph or list item. If the answer
  begins with a mark and does not end with one, all marks precede their sentences.
- An empty line ends a sentence, and so do a list item, a heading and a row of a table.
- A sentence does not end after an abbreviation of `ABBREVIATIONS`, nor after one of `BEFORE_NUMBER`
  or "al." if a number, a parenthesis or a lower-case letter follows.
- Sentences also end at 。！？ and at an ellipsis (…) before a capital letter.
- Parentheses, emphasis and labels that surround only marks belong to them: "(see [1]; [2])",
  "**[1]**", "Source: [1]".
- Reasoning, lists of sources and definitions of links have no sentences. A heading with nothing but
  numbers ("Foxes sleep. Sources: [1], [2].") is no statement; the statement before it cites them,
  unless it has citations of its own.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from everycell.language_models.reasoning import reasoning_spans
from everycell.rag.citation_contexts import MASK, is_source_heading
from everycell.rag.citation_marks import AnswerParts, Citation, Mark, answer_parts
from everycell.rag.citations import divide_citations, remove_spans, spans_to_remove
from everycell.rag.interventions import CitedAnswer, Statement
from everycell.text.sentences import sentence_spans

#: Abbreviations that do not end a sentence.
ABBREVIATIONS = (
    *("e.g", "i.e", "cf", "viz", "vs", "dr", "mr", "mrs", "ms", "prof", "st", "mt", "fig", "figs"),
    *(
        "eq",
        "eqs",
        "approx",
        "incl",
        "esp",
        "resp",
        "gen",
        "sen",
        "rep",
        "gov",
        "capt",
        "lt",
        "col",
    ),
    *("sgt", "rev", "hon", "z.b", "d.h", "bzw", "abb"),
)
#: Abbreviations that do not end a sentence before a number, a parenthesis or a lower-case letter.
BEFORE_NUMBER = (
    *("no", "nos", "nr", "p", "pp", "sec", "sect", "ch", "chap", "vol", "art", "tab", "ver", "ca"),
    *("c", "al", "ed", "eds", "ref", "refs", "para", "app", "op", "etc", "jr", "sr", "inc", "ltd"),
    *("co", "corp", "dept", "univ", "est", "min", "max", "avg", "b", "d", "r", "fl", "sp", "spp"),
    *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
)
_ABBREVIATION = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, ABBREVIATIONS))})\.\Z", re.I)
_BEFORE_NUMBER = re.compile(rf"(?<![\w.])(?:{'|'.join(BEFORE_NUMBER)})\.\Z", re.IGNORECASE)
_CONTINUES = re.compile(r"[a-z\d(]|[IVX]+\b")
# "1." before the text of a list item.
_NUMBERING = re.compile(r"[ \t>*]*\(?\d{1,3}[.)]\Z")
_BLOCK = re.compile(
    r"\n[ \t]*(?=\n)"
    r"|\n(?=[ \t>]*(?:[-*•+–][ \t]|\(?\d{1,3}[.)][ \t]|\(?[a-z]\)[ \t]|#{1,6}[ \t]|\|))"
)
_CLOSING = r"”’」』）)\]"
_FURTHER_END = re.compile(
    rf"(?:(?<=[。！？｡])|(?<=[。！？｡][{_CLOSING}]))\s*(?=[^\s{_CLOSING}])|(?<=…)\s+(?=[A-Z])"
)
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t][^\n]*\n", re.MULTILINE)
_EMPTY_LINE = re.compile(r"\n[ \t]*(?=\n)")
# "owls (Strix sp.) hunt"
_CLOSED = re.compile(r"[.!?][\"'”’)\]]+\Z")
_LIST_MARKER = re.compile(r"(?:[-*•+–>#]+|\(?\d{1,3}[.)]|\(?[a-z]\))[ \t]+")
# What is left of "(see [1])".
_EMPTY_PARENTHESES = re.compile(r"\s?\((?:see|cf\.?|e\.g\.,?)?[\s,;]*\)", re.IGNORECASE)
_WORD = re.compile(rf"\w|{MASK}")
_BETWEEN = re.compile(r"\s?(?:[,;&]|,? ?and)\s?")

Span = tuple[int, int]


class CitedSentence(NamedTuple):
    """A sentence of an answer: its position with its marks, and all citations in it."""

    start: int
    end: int
    citations: tuple[Citation, ...]


def split_answer(text: str) -> list[CitedSentence]:
    """Sentences of an answer, each with its citations."""
    return _sentences(text, answer_parts(text))


def cited_sentences(text: str, k: int) -> CitedAnswer:
    """Statements of an answer, one per sentence, with the documents that each cites."""
    parts = answer_parts(text)
    removed = sorted([*reasoning_spans(text), *parts.lists, *spans_to_remove(parts, text, k)])
    starts = [start for start, _ in removed]
    statements = []
    for sentence in _sentences(text, parts):
        first = max(0, bisect_right(starts, sentence.start) - 1)
        own = [
            (max(0, start - sentence.start), end - sentence.start)
            for start, end in removed[first : bisect_left(starts, sentence.end)]
            if end > sentence.start
        ]
        visible = _EMPTY_PARENTHESES.sub("", remove_spans(text[sentence.start : sentence.end], own))
        words = " ".join(visible.split())
        statement = re.sub(rf"\A(?:{_LIST_MARKER.pattern})+", "", words)
        cited = tuple(number - 1 for number in divide_citations(sentence.citations, k).documents)
        if is_source_heading(statement):
            if statements and not statements[-1].documents:
                statements[-1] = statements[-1]._replace(documents=cited)
        elif statement:
            statements.append(Statement(statement, cited))
    return CitedAnswer(tuple(statements))


def _sentences(text: str, parts: AnswerParts) -> list[CitedSentence]:
    # Marks at the end of a sentence must not change where it ends.
    marks = [mark for mark in parts.marks if not mark.is_word]
    blank = list(parts.visible)
    hidden = [*reasoning_spans(text), *parts.lists, *((mark.start, mark.end) for mark in marks)]
    # "[1], [2]"
    hidden += [
        (first.end, second.start)
        for first, second in itertools.pairwise(marks)
        if _BETWEEN.fullmatch(text, first.end, second.start)
    ]
    for start, end in hidden:
        blank[start:end] = [" " if character != "\n" else "\n" for character in text[start:end]]
    # A list on the line of a sentence ends it.
    for start, end in parts.lists:
        blank[start : start + 2] = "\n\n"[: end - start]
    spans = [span for block in _blocks("".join(blank)) for span in block]
    spans = _with_marks(text, spans, marks)
    citations = [citation for mark in parts.marks for citation in mark.citations]
    starts = [mark.start for mark in parts.marks for _ in mark.citations]
    return [
        CitedSentence(
            start, end, tuple(citations[bisect_left(starts, start) : bisect_left(starts, end)])
        )
        for start, end in spans
    ]


def _blocks(text: str) -> list[list[Span]]:
    """Sentences of each paragraph or list item."""
    ends = {match.end() for pattern in (_BLOCK, _HEADING) for match in pattern.finditer(text)}
    bounds = sorted({0, *ends, len(text)})
    blocks = []
    for start, end in zip(bounds, bounds[1:], strict=False):
        block = text[start:end]
        blocks.append(
            [(start + first, start + last) for first, last in _joined(block, _split(block))]
        )
    return blocks


def _split(text: str) -> list[Span]:
    spans = []
    for start, end in sentence_spans(text, quotes="curly"):
        cuts = [match.span() for match in _FURTHER_END.finditer(text, start, end)]
        firsts = [start, *(cut[1] for cut in cuts)]
        spans += list(zip(firsts, [*(cut[0] for cut in cuts), end], strict=True))
    return [
        (start + len(part) - len(part.lstrip()), start + len(part.rstrip()))
        for start, part in ((start, text[start:end]) for start, end in spans)
        if part.strip()
    ]


def _joined(text: str, spans: list[Span]) -> list[Span]:
    """Join spans that are parts of one sentence, and drop those without words."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and _belong_together(text[slice(*joined[-1])], text[start:end]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [span for span in joined if _WORD.search(text, *span)]


def _belong_together(first: str, second: str) -> bool:
    end = first[-12:]
    return (
        not _WORD.search(second)
        or not _WORD.search(first)
        or _ABBREVIATION.search(end) is not None
        or (_BEFORE_NUMBER.search(end) is not None and _CONTINUES.match(second) is not None)
        or (_CLOSED.search(end) is not None and second[0].islower())
        or _NUMBERING.fullmatch(first) is not None
    )


def _with_marks(text: str, spans: list[Span], marks: list[Mark]) -> list[Span]:
    """Extend sentences by the marks before and after them."""
    if not spans:
        return spans
    starts = [start for start, _ in spans]
    begins = bool(marks) and marks[0].start < starts[0]
    marks_precede = begins and marks[-1].start < spans[-1][1]
    extended = [list(span) for span in spans]
    breaks = [match.start() for match in re.finditer("\n", text)]
    empty_lines = [match.start() for match in _EMPTY_LINE.finditer(text)]
    for mark in marks:
        index = bisect_right(starts, mark.start) - 1
        if index >= 0 and mark.start < spans[index][1]:
            continue
        followed = index + 1 < len(spans) and not _any_within(breaks, mark.end, starts[index + 1])
        after_break = index >= 0 and _any_within(empty_lines, spans[index][1], mark.start)
        if index < 0 or (followed and (marks_precede or after_break)):
            extended[index + 1][0] = min(extended[index + 1][0], mark.start)
        else:
            extended[index][1] = max(extended[index][1], mark.end)
    return [(start, end) for start, end in extended]


def _any_within(positions: list[int], start: int, end: int) -> bool:
    return bisect_left(positions, start) < bisect_left(positions, end)
