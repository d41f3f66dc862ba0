r"""Citations in generated answers: the numbers of the cited documents, and their positions.

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

`unread_marks` lists those that look like citations. `documents` separates the numbers of documents
from *stray* ones, such as ``[0]`` and ``[2015]``. A ``[3]`` that an answer copies from a document
cannot be distinguished from a citation; prompts can avoid this by removing such marks from
documents (`without_citations`).

The running time is linear in the length of the text (in `without_citations`, for each level of
nested brackets).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

from everycell.language_models.generation import Answer, NotOfferedError
from everycell.language_models.reasoning import reasoning_spans
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
Forms = Literal["all", "plain"]

_OPEN, _CLOSE = "[［【", "]］】"
_INNERMOST = re.compile(
    rf"\\?[{re.escape(_OPEN)}]([^{re.escape(_OPEN + _CLOSE)}]*)[{re.escape(_CLOSE)}]"
)
_PLAIN = re.compile(r"\[(\d+)\]")
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
#: Beginning and end of a cited text in answers of Gemini.
_CITED_SPAN = re.compile(r"\[cite_(?:start|end)\][ \t]?", re.IGNORECASE)
_TAGS = "cite|citation|ref|reference|source|sources|doc|document|footnote|fn|note|co|sup"
# What looks like a citation: brackets, superscripts, tags, parentheses, braces, ...
_MARK = re.compile(
    rf"{_INNERMOST.pattern}|[^\W_{_DIGITS}]{{0,20}}[{_DIGITS}]+"
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
        All forms listed in the module's docstring, or only ``[1]``, as in the authors' library.

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


class Mark(NamedTuple):
    """Part of a text that is read as citations.

    `is_word` is true if it is part of the sentence, such as "Document 2", so that it must stay.
    """

    start: int
    end: int
    citations: tuple[Citation, ...]
    is_word: bool = False


def citation_marks(text: str, *, forms: Forms = "all") -> list[Mark]:
    """Marks of a text that are read as citations, in order; no two have the same citation."""
    if forms == "plain":
        return [
            Mark(*match.span(), (Citation(int(match[1]), *match.span(1)),))
            for match in _PLAIN.finditer(hide_reasoning(text))
            if len(match[1]) <= LONGEST_NUMBER
        ]
    return answer_parts(text).marks


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
        hide_reasoning(text), lambda content: bool(_parse_list(content, 0))
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
    for match in _INNERMOST.finditer(text):
        cited = [] if _is_interval(text, match) else _parse_list(match[1], match.start(1))
        # "[1]-[3]"
        between: list[Citation] = []
        if cited and end is not None and _BETWEEN.fullmatch(text, end, match.start()):
            between = _range_numbers(marks[-1].citations[-1].number, cited[0].number, end)
        if cited:
            marks.append(Mark(match.start(), match.end(), (*between, *cited)))
        end = match.end() if cited else None
    for match in _PROSE.finditer(text):
        part = "several" if match["several"] else "one"
        cited = _parse_list(match[part], match.start(part))
        if cited:
            marks.append(Mark(*match.span(part), tuple(cited), is_word=True))
    for match in _PARENTHESES.finditer(text):
        if _NAMED.search(match[1]) and (cited := _parse_list(match[1], match.start(1))):
            marks.append(Mark(*match.span(), tuple(cited)))
    marks += [
        Mark(*match.span(), (Citation(_DIGITS.index(match[0]), *match.span()),))
        for match in _SUPERSCRIPT.finditer(text)
    ]
    for match in _SUP.finditer(text):
        content = match[1].strip("[] ")
        if cited := _parse_list(content, match.start(1) + match[1].index(content)):
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


def source_list_of(text: str) -> str:
    """List of sources of an answer, whose marks are not citations; empty if none."""
    return "\n".join(text[start:end] for start, end in answer_parts(text).lists)


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


def _parse_list(content: str, offset: int) -> list[Citation]:
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


def documents(citations: Sequence[Citation], k: int, *, first: int = 1) -> Cited:
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
        cited = _parse_list(match[1], 0)
        return "" if cited and (k is None or not _has_year(cited, k)) else match[0]

    # Removing one may create another: "[[9]3]".
    previous = None
    while text != previous:
        previous, text = text, re.sub(rf"[ \t]?{_INNERMOST.pattern}", replace, text)
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
