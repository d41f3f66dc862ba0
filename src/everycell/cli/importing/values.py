"""Spellings of published values: one cell, and what only its column decides.

The digits of a value are kept as printed; separators of thousands are removed, and a decimal comma
becomes a point.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from everycell.base.errors import DataError
from everycell.records.spellings import is_missing, is_no_value, is_not_significant

#: Position of a cell in its column.
Row = TypeVar("Row")


@dataclass(frozen=True)
class SourceCell:
    """A cell of a published table: its text, raised signs, and emphasis."""

    text: str
    #: Content of superscripts, such as "†" or "ab".
    raised: str = ""
    bold: bool = False
    underlined: bool = False
    #: How the cell is written in the file.
    source: str = ""
    #: Commands of LaTeX that stand for their names.
    unknown: tuple[str, ...] = ()


class Part(NamedTuple):
    """A number or word of a cell; several parts are told apart by their role."""

    #: Empty for the value itself, otherwise a suffix to the name of its column.
    role: str
    text: str
    unit: str = ""
    marker: str = ""


#: Spellings of values, for messages.
READABLE = "a number, such as 0.82, 45.1%, 0.82 ± 0.05 or < .001, or n.s., – or OOM"
#: Roles of the second and third number of a cell.
ROLES = DEVIATION, BRACKETS, LOW, HIGH = "±", "(in brackets)", "(low)", "(high)"
_DASH = re.compile(r"[-\u2010-\u2015\u2212]+")
_INFINITY = re.compile(r"[-+\u2212]?\s?(inf|infinity|\u221e)", re.IGNORECASE)
#: Signs of significance and footnotes. Letters count only if they are raised, or as their column
#: decides.
_SIGNS = "†‡*∗⋆★☆§¶∥‖#▲▼△▽▴▾▵▿↑↓•◦◇◆♦♣♠♥°"
#: Units that may follow a number directly.
_UNITS = (
    *("%", "‰", "k", "K", "M", "B", "G", "T", "x", "×", "s", "ms", "µs", "μs", "min", "h", "d"),
    *("MB", "GB", "TB", "KB", "MiB", "GiB", "€", "$", "pp"),
)
#: Units that are spelt like letters of significance; ns is rather "not significant".
_UNITS_LIKE_LETTERS = set("px pt sec msec cm km kg mg hr hrs mins mb gb fps dim".split())
_SPACES = re.compile(r"[\u00a0\u2000-\u200a\u202f\u205f]")
_GROUPED = r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*\.?|[.,]\d+"
_NUMBER = rf"[-+]?\s?(?:{_GROUPED})(?:[eE][-+]?\d+|\s?[×x·]\s?10\^?[-+]?\d+)?"
_UNIT = rf"\s?(?P<unit>{'|'.join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))})?"
_MARKS = rf"(?:\s?[{re.escape(_SIGNS)}])*"
_LETTERS = r"(?:[a-z](?:[,\s-]?[a-z])*)?"
_CELL = re.compile(
    rf"(?P<before>{_MARKS})\s*(?P<number>{_NUMBER})(?:{_UNIT})"
    rf"(?P<letters>{_LETTERS})(?P<after>{_MARKS})"
)
_BOUND = re.compile(
    rf"(?:[pP]\s*)?(?P<sign><=|>=|[<>≤≥])\s*(?P<number>{_NUMBER})(?:{_UNIT})(?P<after>{_MARKS})"
)
_P_VALUE = re.compile(r"[pP]\s*=\s*")
_PLUS_MINUS = r"\s*(?:±|\+/-|\+-|\+/−)\s*"
_PAIRS = (
    (
        re.compile(
            rf"(?P<first>[^()\[\]]+?)\s*[(\[]{_PLUS_MINUS}(?P<second>[^±()\[\]]+)[)\]](?P<marks>.*)"
        ),
        (DEVIATION,),
    ),
    (re.compile(rf"(?P<first>.+?){_PLUS_MINUS}(?P<second>[^±]+)"), (DEVIATION,)),
    (re.compile(r"(?P<first>[^()]+?)\s*\((?P<second>[^();,]+)\)(?P<marks>.*)"), (BRACKETS,)),
    (
        re.compile(
            r"(?P<first>[^()\[\]]+?)\s*[(\[](?P<second>[^()\[\],;–—]+)\s*[,;–—]\s*"
            r"(?P<third>[^()\[\]]+)[)\]](?P<marks>.*)"
        ),
        (LOW, HIGH),
    ),
)  # fmt: skip
#: References, dates, hashes and "3-shot", which begin with digits but are no values.
#: A number as lists of NumPy print it.
_NUMPY = re.compile(r"\bnp\.float(?:16|32|64)\(([^()]*)\)")
_NAME_WITH_DIGITS = re.compile(r"\[\d+\]\s*(?:\(|$)|(?=\d*[a-f])[\da-f]{8,}$|\d+-[a-zA-Z]")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = (
    r"\d{4}-\d\d(-\d\d)?|\d{4}(?P<a>[./-])\d{1,2}(?P=a)\d{1,2}|\d\d(?P<b>[./-])\d\d(?P=b)\d\d"
    r"|\d{1,2}(?P<c>[./-])\d{1,2}(?P=c)\d{4}|\d{1,2}/\d{1,2}/\d\d"
    rf"|\d{{1,2}}\.?[ -]{_MONTH}[ -](\d{{4}}|\d\d)|{_MONTH} \d{{1,2}}(st|nd|rd|th)?,? \d{{4}}"
)
_CLOCK = r"\d{1,3}:\d\d(:\d\d([.,]\d+)?)?( ?[ap]\.?m\.?)?( ?(z|utc|gmt|[-+]\d\d:?(\d\d)?))?"
_DURATION = (
    r"(\d+ ?(days?|d),? ?)?[-+]?\d+:\d\d:\d\d([.,]\d+)?"
    r"|\d+ ?(d|days?|h|hrs?|hours?|m|mins?|minutes?)"
    r"(,? ?(and )?\d+([.,]\d+)? ?(h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|ms))+"
)
_TIME = re.compile(
    rf"({_DATE})([T ,]+{_CLOCK})?|\d{{8}}[T_-]?\d{{6}}Z?|{_CLOCK}|{_DURATION}|\d+ [a-z]+ ago",
    re.IGNORECASE,
)
#: What columns of features have, in Unicode or as GitHub writes it.
_MARK = re.compile(
    r"[✓✔☑✅✗✘✕✖❌☒×•●○◦◯+xX\-–—−]\ufe0f?|yes|no|true|false|:\w*(check|cross|x)\w*:",
    re.IGNORECASE,
)
#: Units that no letters of significance in their column make markers.
_SURE_UNITS = {unit for unit in _UNITS if len(unit) > 1}
_UNITS_OF_TIME = {"s", "ms", "µs", "μs", "min", "h", "d"}
_POINT_OR_GROUP = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")
_EXPONENT = re.compile(r"[×x·]\s?10$")


def split_cell(cell: SourceCell) -> list[Part] | None:
    """Read a cell's parts, with numbers as printed; empty for a blank cell, None for other text."""
    text, raised = _SPACES.sub(" ", cell.text).strip(), cell.raised.strip()
    text = _NUMPY.sub(r"\1", text)
    # The dash of a typographic minus also stands for a missing value.
    text = re.sub(r"(?<![\w.])[\u2010-\u2013\u2212\uff0d]\s?(?=[\d.,])", "-", text)
    raised = re.sub(r"[\u2010-\u2013\u2212]", "-", raised)
    if _EXPONENT.search(text) and re.fullmatch(r"[-+]?\d+", raised):
        text, raised = f"{text}^{raised}", ""
    raised = re.sub(r"[\s,]", "", raised)
    if not text:
        return []
    if is_time(text):
        return None
    word = text.strip(_SIGNS + " ") or text
    if _is_dash(word):
        return [Part("", "–", marker=raised)]
    if is_not_significant(word) or is_missing(word):
        return [Part("", word, marker=raised)]
    parts = _read_number(text) or next(
        filter(None, (_read_pair(text, *pair) for pair in _PAIRS)), None
    )
    if parts is None:
        return None
    first, *more = parts
    return [first._replace(marker=first.marker + raised), *more]


def _is_dash(word: str) -> bool:
    return bool(_DASH.fullmatch(word) or is_no_value(word))


def is_time(text: str) -> bool:
    """Whether a text is a date, a time of day or a duration with several units."""
    return _TIME.fullmatch(text.strip()) is not None


def is_mark(text: str) -> bool:
    """Whether a text is a check mark, a cross, a dash, yes or no."""
    return _MARK.fullmatch(text) is not None


def is_duration(part: Part) -> bool:
    """Whether a part is a number with a unit of time."""
    return part.unit in _UNITS_OF_TIME


def _read_number(text: str) -> list[Part] | None:
    """Read a bound or a single number with unit and marks."""
    if match := _BOUND.fullmatch(text):
        sign = {"<=": "≤", ">=": "≥"}.get(match["sign"], match["sign"])
        number, marker = _trim(match["number"]), _signs(match["after"])
        return [Part("", f"{sign} {number}", match["unit"] or "", marker)]
    if match := _CELL.fullmatch(_P_VALUE.sub("", text)):
        unit, letters = match["unit"] or "", match["letters"]
        if _is_word(unit, letters):
            unit, letters = unit + letters, ""
        marker = _signs(match["before"]) + re.sub(r"[\s,]", "", letters) + _signs(match["after"])
        return [Part("", _trim(match["number"]), unit, marker)]
    return None


def _is_word(unit: str, letters: str) -> bool:
    """Whether a known unit and the letters behind it are one unit, as in "days" or "layers".

    Letters of significance are in order, or the first of the alphabet.
    """
    is_in_order = [*letters] == sorted(set(letters)) or re.fullmatch("[a-h]*", letters)
    is_run = re.fullmatch("[a-z]*", unit + letters) is not None
    return unit + letters in _UNITS_LIKE_LETTERS or (is_run and not is_in_order)


def _read_pair(text: str, pattern: re.Pattern[str], roles: Sequence[str]) -> list[Part] | None:
    """Read a number with a deviation, a number in brackets, or an interval."""
    match = pattern.fullmatch(text)
    if match is None:
        return None
    groups = match.groupdict()
    # In "(0.82 ± 0.05)%" and "0.82 ± 0.05%" the unit belongs to both.
    numbers = [
        [Part("", "–")] if _is_dash(groups[name].strip()) else _read_number(groups[name].strip())
        for name in ("first", "second", "third")
        if groups.get(name)
    ]
    if len(numbers) != len(roles) + 1 or not all(numbers):
        return None
    (first,), *more = (number for number in numbers if number)
    after = (groups.get("marks") or "").strip()
    if re.sub(rf"[{re.escape(_SIGNS)}\s]", "", after):
        return None
    marker = first.marker + "".join(part.marker for (part,) in more) + _signs(after)
    unit = first.unit or (more[0][0].unit if DEVIATION in roles else "")
    parts = [first._replace(marker=marker, unit=unit)]
    return parts + [
        part._replace(role=role, marker="", unit=part.unit or unit)
        for role, (part,) in zip(roles, more, strict=True)
    ]


def is_numeric(part: Part) -> bool:
    """Whether a part is a number or a bound, not a word or a dash."""
    return part.text[-1:].isdigit()


def begins_with_number(text: str) -> bool:
    """Whether a text is rather a value than a name: "~0.3" or "3/4", not "BM25" or "[1] (2a)"."""
    letters, digits = sum(map(str.isalpha, text)), sum(map(str.isdigit, text))
    is_name = _NAME_WITH_DIGITS.match(text) or letters >= max(10, 4 * digits) or is_time(text)
    starts = re.match(r"\W*\d", text) or _INFINITY.fullmatch(text)
    return not is_name and starts is not None


def _trim(number: str) -> str:
    return re.sub(r"(?<=^[-+])\s", "", number).removesuffix(".")


def _signs(text: str) -> str:
    return re.sub(r"\s", "", text).replace("∗", "*")


@dataclass
class Column:
    """Numbers of one column of a table, and where they are printed."""

    name: str
    #: Row -> number as printed.
    numbers: dict[str, str] = field(default_factory=dict)


def decide_commas(path: object, columns: Sequence[Column]) -> tuple[dict[str, str], list[str]]:
    """What the comma means in each column, "decimal" or "thousands"; and notes on it.

    A number such as 1,234 has two readings. Its column decides, or else the table. If a column has
    both, or a decimal comma with another number of decimals, the number is refused.
    """
    decided: dict[str, str] = {}
    undecided: list[str] = []
    for column in columns:
        kinds = {row: _comma_of(number) for row, number in column.numbers.items()}
        decimal = [row for row, kind in kinds.items() if kind == "decimal"]
        other = [row for row, kind in kinds.items() if kind in ("thousands", "point")]
        ambiguous = [row for row, kind in kinds.items() if kind == "ambiguous"]
        for row in (row for row, kind in kinds.items() if kind == "malformed"):
            _refuse(path, row, column, "groups of three digits, or one decimal separator")
        if decimal and other:
            _refuse(
                path, decimal[0], column, f"the same separators as in {column.numbers[other[0]]}"
            )
        if decimal:
            digits = {len(column.numbers[row].rpartition(",")[2]) for row in decimal}
            if ambiguous and digits != {3}:
                example = column.numbers[decimal[0]]
                _refuse(path, ambiguous[0], column, f"as many decimals as in {example}")
            decided[column.name] = "decimal"
        elif other or not ambiguous:
            decided[column.name] = "thousands"
        else:
            undecided.append(column.name)
    has_decimal_commas = "decimal" in decided.values()
    for name in undecided:
        decided[name] = "decimal" if has_decimal_commas else "thousands"
    for column in columns if has_decimal_commas else ():
        # Next to decimal commas, 1.234 may be a number of thousands.
        points = [row for row, number in column.numbers.items() if "." in number]
        is_group = (_POINT_OR_GROUP.fullmatch(column.numbers[row]) for row in points)
        if points and decided[column.name] == "thousands" and all(is_group):
            _refuse(path, points[0], column, "a decimal comma, as in other columns")
    words = {"decimal": "decimal point", "thousands": "separator of thousands"}
    with_commas = [column.name for column in columns if "," in "".join(column.numbers.values())]
    return decided, [f"{name}: the comma is a {words[decided[name]]}." for name in with_commas]


def _refuse(path: object, row: str, column: Column, expected: str) -> None:
    raise DataError(
        path,
        row,
        column.name,
        column.numbers[row],
        expected=expected,
        fix="write it without separators of thousands and with a decimal point",
    )


def _comma_of(number: str) -> str:
    """Evidence on commas: decimal, thousands, point, ambiguous, malformed or none."""
    digits = re.split(r"[eE]|\s?[×x·]", number.lstrip("-+ ").removesuffix("."))[0]
    if re.fullmatch(r"\d*(\.\d+)?|\d{1,3}([ '’]\d{3})+(\.\d+)?", digits):
        return "point" if "." in digits else "none"
    if re.fullmatch(r"\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,}", digits):
        return "thousands"
    if re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}|\d{1,3}([ '’]\d{3})+,\d+", digits):
        return "decimal"
    if re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits):
        return "ambiguous"
    return "decimal" if re.fullmatch(r"\d*,\d+", digits) else "malformed"


def plain_number(number: str, comma: str) -> str:
    """Number with a decimal point, without separators of thousands, and with a plain exponent."""
    digits = re.sub(r"[ '’]", "", number)
    digits = re.sub(r"[×x·]10\^?", "e", digits)
    if comma == "decimal":
        mantissa, exponent = re.fullmatch(r"([^eE]*)(.*)", digits, re.DOTALL).groups()  # type: ignore[union-attr]
        return mantissa.replace(".", "").replace(",", ".") + exponent
    return digits.replace(",", "")


def resolve_letters(parts: Mapping[Row, Part]) -> dict[Row, Part]:
    """Tell units from letters of significance in one column, by row.

    "0.45h" is in hours unless another number of the column has letters that are no unit.
    """
    has_letters = any(re.search("[a-z]", part.marker) for part in parts.values())
    if not has_letters or len({part.unit for part in parts.values()}) == 1:
        return dict(parts)
    return {
        row: part._replace(unit="", marker=part.unit + part.marker)
        if re.fullmatch("[a-z]+", part.unit) and part.unit not in _SURE_UNITS
        else part
        for row, part in parts.items()
    }
