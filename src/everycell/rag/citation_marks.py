r"""Marks of citations in answers, and marks that only look like citations.

The prompts of abolghasemi2026 (Figures 5.2 and 5.7) ask for citations such as ``[1] [2]``, and its
authors' library reads nothing else (``forms="plain"``). Models also write other forms. This module
reads:

==================================  =======================================================
``[1]``, ``[1][2]``                 one number in brackets
``[1, 2]``, ``[1; 2]``, ``[1 2]``   several; also with "and", "&" and "/"
``[1-3]``, ``[1]-[3]``, ``[1 to 3]``  all numbers from 1 to 3, with a hyphen, a dash or "to"
``[Document 2]``, ``[cite: 2]``     with a noun or "cite" before the number; ``[cite_start]`` is
                                    removed
``(Document 2)``, ``(Source: 2)``   the same in parentheses
``[E1, E2]``                        with the letter D, E, P, R or S (document, evidence, ...)
``[[2]]``                           in nested brackets
``[#2]``, ``[^1]``                  with a number sign or a footnote mark
``[1.]``, ``[1, 2,]``, ``[1;]``     with one punctuation mark after the last number
``\[1\]``, ``【4:1†source】``         with backslashes, or with the search number and dagger of GPT
``[1, Human]``, ``[LLM: 2]``        with one of `LABELS` next to the number
``[1 (author: Ada Ode)]``           with a label in parentheses that begins as in prompts
``［１］``, ``【1】``, ``[١]``           full-width brackets, and decimal digits of any script
``[二]``, ``【十二】``                  Chinese numerals from 1 to 99
Document 2, documents 1 and 3       without brackets, after one of `NOUNS`
at night¹, so it is.² ³             one superscript digit, after punctuation or four letters
night<sup>1</sup>, .<sup>1,2</sup>  the same in HTML, with several numbers too
==================================  =======================================================

A label next to a number repeats the prompt's label, so the number is still that of a document.
These are not citations:

==================================  =======================================================
``[note 1 above]``, ``[-1]``        brackets that contain anything else, such as ``[a]``,
                                    ``[Human]``, ``[1:]``, ``[1,000]``, ``[Delft, 1]``
``[0, 1]``, the interval ``[2, 5]``  two numbers of which the first is 0, or after the sign ∈ or
                                    before or after one of `RANGES`
``a = [1, 2]``, ``f([1, 2])``       several numbers after an equals sign, a function or "array"
``(2)``, ``{2}``, ``^2^``, ``①``     may be items of an enumeration
``<cite index="2-1">``, ``<co: 2>``  tags, whose numbers may begin at 0 or count sentences
〔2〕, «2», <2>                     in other brackets
km², ``10<sup>6</sup>``, ¹²          superscripts that may be exponents, or two citations
owls.2 Foxes                        digits after a full stop
``[@2]``, ``\cite{doc2}``            citations by name
code, maths, links, lists of        see `everycell.rag.citation_contexts`
sources, reasoning
==================================  =======================================================

`unread_marks` lists those that look like citations. Not every number is that of a document: see
`everycell.rag.citations.divide_citations`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Literal, NamedTuple

from everycell.rag.citation_contexts import hide_code_and_links, hide_reasoning, source_lists

#: Words that may precede a number, singular and plural.
NOUNS = ("document", "doc", "passage", "source", "reference", "ref")
#: Words for an author in prompts, which may occur next to a number.
LABELS = ("author", "authors", "human", "llm", "ai")
#: Words and abbreviations before an interval.
RANGES = ("interval", "range", "scale", "domain", "segment", "CI", "array", "vector", "tuple")
#: Largest number of digits of a cited number.
LONGEST_NUMBER = 6
#: A range with more numbers than this is read as its two bounds, like a range of years.
LONGEST_RANGE = 100
#: Numbers that are read as years if no document has them.
YEARS = range(1000, 2100)
_OPEN, _CLOSE = "[［【", "]］】"
BRACKETS = re.compile(
    rf"\\?[{re.escape(_OPEN)}]([^{re.escape(_OPEN + _CLOSE)}]*)[{re.escape(_CLOSE)}]"
)
_NOUN = rf"(?:{'|'.join(NOUNS)})"
_WORD = re.compile(rf"(?:{_NOUN}|citation|cite)s?[.:]?", re.IGNORECASE)
_DASH = r"[-\u2010-\u2015\u2212~]"
_CHINESE = "一二三四五六七八九"
# Punctuation next to a label belongs to it. All quantifiers but one are bounded, and that one ends
# at the next parenthesis, so that the running time is linear.
_PUNCTUATION = rf"(?:[,;:]|{_DASH})?"
_LABEL = (
    rf"{_PUNCTUATION}\s?(?:\((?:author|written|authored)\b[^()]*\)|\((?:{'|'.join(LABELS)})\)"
    rf"|\b(?:{'|'.join(LABELS)})\b)\s?{_PUNCTUATION}"
)
# Contents of brackets: numbers, labels, dashes, separators, words, blanks, anything else.
_PART = re.compile(
    rf"(?:[#^]|\b(?-i:[DEPRS]))?(?P<number>\d+|[{_CHINESE}十]+)|(?P<label>{_LABEL})|(?P<dash>{_DASH})"
    r"|(?P<separator>[,;&/、，；])|(?P<word>[^\W\d_]+[.:]?)|(?P<blank>\s+)|(?P<other>.)",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
_CHINESE_NUMBER = re.compile(rf"([{_CHINESE}])?(十)?([{_CHINESE}])?")
# Only a plural noun may precede several numbers: "Document 1 and 3 people" cites one.
_PROSE = re.compile(
    rf"\b(?:{_NOUN}s\s+(?:no\.?\s*|#)?(?P<several>\d+(?:\s*(?:,\s*and\b|,|and\b|&|or\b|{_DASH})\s*\d+)*)"
    rf"|{_NOUN}\.?\s+(?:no\.?\s*|#)?(?P<one>\d+))(?![\w%°]|\.\d)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(rf"\s?{_DASH}\s?")
_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
# One digit, since two may be one number or two citations; not the exponent of a unit ("metres²").
_SUPERSCRIPT = re.compile(
    rf"(?:(?<=[^\W\d_{_DIGITS}]{{4}})(?<!met[er]{{2}}s)(?<!met[er]{{2}})(?<!miles)(?<!feet)"
    rf"|(?<=[.,;:!?)\]\"”’»])|(?<=[{_DIGITS}][ ,]))[{_DIGITS}](?![{_DIGITS}])"
)
# The same positions, for HTML.
_SUP = re.compile(
    r"(?:(?<=[^\W\d_]{4})(?<!met[er]{2}s)(?<!met[er]{2})(?<!miles)(?<!feet)"
    r"|(?<=[.,;:!?)\]\"”’»>])|(?<=[>,] ))<sup>\s*(\[?[\d\s,;–-]{1,30}\]?)\s*</sup>",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(r"\(([^()\[\]\n]{1,80})\)")
_NAMED = re.compile(rf"\b(?:{_NOUN}|citation|cite)s?\b", re.IGNORECASE)
_BEFORE_INTERVAL = re.compile(
    rf"(?:∈|\\in|\b(?:{'|'.join(RANGES)})s?(?:[ ](?:of|from|is|over))?:?)\s?\Z", re.IGNORECASE
)
_AFTER_INTERVAL = re.compile(rf"\s(?:{'|'.join(RANGES)})s?\b", re.IGNORECASE)
_BEFORE_VALUES = re.compile(
    r"(?:\w\(|=\s?|\b(?:array|vector|tuple)(?:[ ](?:of|is))?:?\s)\Z", re.IGNORECASE
)
_INTERVAL = re.compile(rf"\s*\d+\s*(?:[,;]|{_DASH})\s*\d+\s*")
_SEPARATOR = re.compile(r"\s?(?:[,;&]|,? ?and)\s?|[ \t]?")
_LEAD = rf"(?:see|cf|e\.g|{_NOUN}s?|citations?|cites?)[.:]?,?"
#: What precedes and follows marks, and belongs to them.
_SURROUNDINGS = (
    (re.compile(r"(?P<mark>\*{1,3}|_{1,3})\Z"), re.compile(r"\*{1,3}|_{1,3}")),
    (re.compile(rf"\(\s?(?:{_LEAD}\s?){{0,2}}\Z", re.IGNORECASE), re.compile(r"\s?\)")),
    (
        re.compile(
            rf"(?:\A|(?<=\n)|(?<=[.!?]\s))[ \t*_]{{0,6}}(?:{_NOUN}|citation)s?"
            r"[*_]{0,2}:[*_]{0,2}\s?\Z",
            re.IGNORECASE,
        ),
        re.compile(r"\.?[ \t]*(?=\n|\Z)"),
    ),
)


class Citation(NamedTuple):
    """A number that an answer cites.

    Attributes
    ----------
    number : int
        0 or more.
    start, end : int
        Position of its digits in the text. Numbers within a range are not written; for them, it is
        the position of the dash.
    """

    number: int
    start: int
    end: int


class Mark(NamedTuple):
    """Part of a text that is read as citations.

    `is_word` is true if it is part of the sentence, such as "Document 2", so that it must stay.
    """

    start: int
    end: int
    citations: tuple[Citation, ...]
    is_word: bool = False


class AnswerParts(NamedTuple):
    """Parts of an answer: its citations, and what is not read.

    The visible text has `everycell.rag.citation_contexts.MASK` in place of reasoning, code and
    maths. Marks in lists of sources are not read. Hidden are links and code that look like
    citations.
    """

    visible: str
    marks: list[Mark]
    lists: list[tuple[int, int]]
    hidden: list[str]


def answer_parts(text: str) -> AnswerParts:
    """Divide an answer into its parts."""
    visible, hidden = hide_code_and_links(
        hide_reasoning(text), lambda content: bool(parse_list(content, 0))
    )
    marks = _all_marks(visible)
    lists = source_lists(visible, [(mark.start, mark.end) for mark in marks])
    starts = [start for start, _ in lists]

    def is_outside(mark: Mark) -> bool:
        number = bisect_right(starts, mark.start)
        return number == 0 or mark.start >= lists[number - 1][1]

    outside = _with_surroundings(visible, [mark for mark in marks if is_outside(mark)])
    return AnswerParts(visible, outside, lists, hidden)


def _with_surroundings(text: str, marks: list[Mark]) -> list[Mark]:
    """Marks with what surrounds only them: "(see [1]; [2])", "**[1]**", "Source: [1]"."""
    extended: list[Mark] = []
    group: list[Mark] = []
    for mark, following in zip(marks, [*marks, None][1:], strict=True):
        group.append(mark)
        if (
            following is not None
            and not (mark.is_word or following.is_word)
            and _SEPARATOR.fullmatch(text, mark.end, following.start)
        ):
            continue
        start, end = group[0].start, group[-1].end
        if not mark.is_word:
            start, end = _surroundings(text, start, end)
        starts = [start, *(mark.start for mark in group[1:])]
        ends = [*starts[1:], end]
        extended += [
            mark._replace(start=first, end=last)
            for mark, first, last in zip(group, starts, ends, strict=True)
        ]
        group = []
    return extended


def _surroundings(text: str, start: int, end: int) -> tuple[int, int]:
    for before, after in _SURROUNDINGS:
        opening = before.search(text, max(0, start - 40), start)
        closing = after.match(text, end)
        if opening and closing and opening.groupdict().get("mark") in (None, closing[0]):
            start, end = opening.start(), closing.end()
    return start, end


def _all_marks(text: str) -> list[Mark]:
    marks: list[Mark] = []
    end: int | None = None
    for match in BRACKETS.finditer(text):
        cited = [] if _is_interval(text, match) else parse_list(match[1], match.start(1))
        # "[1]-[3]"
        between: list[Citation] = []
        if cited and end is not None and _BETWEEN.fullmatch(text, end, match.start()):
            between = _range_numbers(marks[-1].citations[-1].number, cited[0].number, end)
        if cited:
            marks.append(Mark(match.start(), match.end(), (*between, *cited)))
        end = match.end() if cited else None
    for match in _PROSE.finditer(text):
        part = "several" if match["several"] else "one"
        cited = parse_list(match[part], match.start(part))
        if cited:
            marks.append(Mark(*match.span(part), tuple(cited), is_word=True))
    for match in _PARENTHESES.finditer(text):
        if _NAMED.search(match[1]) and (cited := parse_list(match[1], match.start(1))):
            marks.append(Mark(*match.span(), tuple(cited)))
    marks += [
        Mark(*match.span(), (Citation(_DIGITS.index(match[0]), *match.span()),))
        for match in _SUPERSCRIPT.finditer(text)
    ]
    for match in _SUP.finditer(text):
        content = match[1].strip("[] ")
        if cited := parse_list(content, match.start(1) + match[1].index(content)):
            marks.append(Mark(*match.span(), tuple(cited)))
    return _without_repetitions(marks)


def _without_repetitions(marks: list[Mark]) -> list[Mark]:
    """Each citation once: "(Document 2)" and "<sup>[2]</sup>" are read in two ways."""
    widest = sorted(marks, key=lambda mark: (mark.start, -mark.end))
    distinct: list[Mark] = []
    for mark in widest:
        if not distinct or mark.start >= distinct[-1].end:
            distinct.append(mark)
    return distinct


def _is_interval(text: str, match: re.Match[str]) -> bool:
    """Whether brackets have the bounds of an interval, such as [0, 1], or other values."""
    before = text[max(0, match.start() - 30) : match.start()]
    # "array([1, 2])", "a = [1, 2]"
    if re.search(r"\d\s*[,;]\s*\d", match[1]) and _BEFORE_VALUES.search(before):
        return True
    if not _INTERVAL.fullmatch(match[1]):
        return False
    first, second = (int(digits[:9]) for digits in re.findall(r"\d+", match[1]))
    has_dash = re.search(_DASH, match[1]) is not None
    return first < second and (
        (first == 0 and not has_dash)
        or _BEFORE_INTERVAL.search(before) is not None
        or _AFTER_INTERVAL.match(text, match.end()) is not None
    )


def _value(written: str) -> int | None:
    """Value of a written number; None if it is too long, or not a Chinese numeral up to 99."""
    if written.isdecimal():
        return int(written) if len(written) <= LONGEST_NUMBER else None
    match = _CHINESE_NUMBER.fullmatch(written)
    # Two digits without a ten between them are not a number.
    if match is None or (match[1] and match[3] and not match[2]):
        return None
    tens, ones = (_CHINESE.index(part) + 1 if part else 0 for part in (match[1], match[3]))
    return 10 * (tens or 1) + ones if match[2] else tens or ones


def parse_list(content: str, offset: int) -> list[Citation]:
    """Citations in the content of brackets; empty if it is not a list of numbers."""
    citations: list[Citation] = []
    dash: int | None = None
    # After a number, a dash or separator may follow; after those, a number.
    after_number = False
    content, dagger, _ = content.removesuffix("\\").partition("†")
    content = content.rstrip()
    # "4:1†source": the part before the colon numbers the search, not the document.
    if dagger and (searched := re.match(r"\d{1,6}:(?=\d)", content)):
        content, offset = content[searched.end() :], offset + searched.end()
    if content.endswith((".", ",", ";")):
        content = content[:-1]
    if _THOUSANDS.search(content):
        return []
    for part in _PART.finditer(content):
        kind = part.lastgroup
        if kind in ("blank", "label"):
            continue
        if kind == "number":
            number = _value(part["number"])
            if number is None:
                return []
            if dash is not None:
                citations += _range_numbers(citations[-1].number, number, offset + dash)
            citations.append(Citation(number, offset + part.start("number"), offset + part.end()))
            dash, after_number = None, True
        elif kind == "dash" and after_number and dash is None:
            dash, after_number = part.start(), False
        elif kind == "separator" and after_number:
            after_number = False
        elif kind == "word" and part[0].lower() == "to" and after_number and dash is None:
            dash, after_number = part.start(), False
        elif kind == "word" and dash is None and part[0].lower() in ("and", "or") and citations:
            after_number = False
        elif kind == "word" and dash is None and _WORD.fullmatch(part[0]):
            after_number = False
        else:
            return []
    return citations if after_number else []


def _range_numbers(low: int, high: int, position: int) -> list[Citation]:
    """Numbers within the bounds of a range; empty for decreasing or long ranges and years."""
    if high - low >= LONGEST_RANGE or (low in YEARS and high in YEARS):
        return []
    return [Citation(number, position, position + 1) for number in range(low + 1, high)]


Forms = Literal["all", "plain"]
_PLAIN = re.compile(r"\[(\d+)\]")
_TAGS = "cite|citation|ref|reference|source|sources|doc|document|footnote|fn|note|co|sup"
# What looks like a citation: brackets, superscripts, tags, parentheses, braces, ...
_MARK = re.compile(
    rf"{BRACKETS.pattern}|[^\W_{_DIGITS}]{{0,20}}[{_DIGITS}]+"
    rf"|<(?P<tag>{_TAGS})\b[^<>\n]{{0,80}}>[^<>\n]{{0,20}}\d[^<>\n]{{0,20}}</(?P=tag)>"
    rf"|[<(]\s?(?:\w{{1,20}}:)?(?:{_TAGS})\b[^<>()\n]{{0,80}}\d[^<>()\n]{{0,80}}[>)]"
    rf"|(?:(?<=[^\W\d_]{{4}})|(?<![\w\n]))(?<!\A)\(\s?\d{{1,3}}(?:\s?[,;–-]\s?\d{{1,3}})*\s?\)"
    rf"|\((?:{_NOUN}s?|[DEPRS])[ _-]?\d{{1,4}}\)"
    r"|\{\{?\d{1,3}(?:\s?[,;]\s?\d{1,3})*\}?\}|\^\{?\d{1,3}\}?\^|(?<=[^\W\d_]{4})\$?\^\{?\d{1,2}\b\}?\$?|[①-⓿❶-➓]"
    r"|[〔⟦〖«⟨<⁽]\s?[\d⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}\s?[〕⟧〗»⟩>⁾]|\bcite[\ue000-\uf8ff]{0,3}turn\d\w{1,20}"
    r"|\\cite\w{0,10}\{[^{}\n]{1,60}\}"
    r"|(?<=[^\W\d_]{3}[.!?])\d{1,2}(?=\s+[A-Z]|\s*\Z)",
    re.IGNORECASE,
)


def citation_marks(text: str, *, forms: Forms = "all") -> list[Mark]:
    """Marks of a text that are read as citations, in order; no two have the same citation."""
    if forms == "plain":
        return [
            Mark(*match.span(), (Citation(int(match[1]), *match.span(1)),))
            for match in _PLAIN.finditer(hide_reasoning(text))
            if len(match[1]) <= LONGEST_NUMBER
        ]
    return answer_parts(text).marks


def unread_marks(text: str, *, forms: Forms = "all") -> list[str]:
    """Parts of a text that look like citations but that `find_citations` skips.

    Reasoning, code, maths and lists of sources have none, except for links and code that are
    nothing but a number.
    """
    if forms == "plain":
        visible, hidden, lists = hide_reasoning(text), [], []
        marks = citation_marks(text, forms=forms)
    else:
        visible, marks, lists, hidden = answer_parts(text)
    starts = [citation.start for mark in marks for citation in mark.citations]
    ignored = sorted([*lists, *((mark.start, mark.end) for mark in marks)])
    firsts = [start for start, _ in ignored]

    def is_ignored(position: int) -> bool:
        number = bisect_right(firsts, position)
        return number > 0 and position < ignored[number - 1][1]

    return hidden + [
        match[0]
        for match in _MARK.finditer(visible)
        if any(map(str.isnumeric, match[0]))
        and bisect_left(starts, match.start()) == bisect_left(starts, match.end())
        and not is_ignored(match.start())
    ]
