"""One comparison of a predicate: a cell with a value, or with another cell.

A comparison is true, false or inconclusive (None). An interval, a p-value or a marker (a sign after
a published number) can show that a difference is not significant, which makes it inconclusive.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from everycell.records.cells import Selector, as_number
from everycell.records.claims import Predicate

Key = tuple[str, ...]

_NUMERIC: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Cells:
    """Cells of a tidy table by key."""

    keys: list[str]
    columns: Mapping[str, Mapping[Key, Any]]

    @classmethod
    def of(cls, table: pd.DataFrame, keys: Sequence[str]) -> Cells:
        """Read a table, shape (n, k), with these key columns; the last of duplicate rows counts."""
        content = {column: table[column].tolist() for column in table.columns}
        texts = (map(str, content.pop(column)) for column in keys)
        names = list(zip(*texts, strict=True)) if keys else [()] * len(table)
        return cls(
            list(keys),
            {column: dict(zip(names, cells, strict=True)) for column, cells in content.items()},
        )

    @property
    def names(self) -> list[Key]:
        """Keys of the cells, in the order of the table."""
        return list(self.columns["value"])

    def select(self, selector: Selector, names: Iterable[Key]) -> list[Key]:
        """Keys that match a selector, in their order; none if it has an unknown column."""
        if not selector.keys() <= set(self.keys):
            return []
        conditions = [
            (self.keys.index(column), {value} if isinstance(value, str) else set(value))
            for column, value in selector.items()
        ]
        return [key for key in names if all(key[index] in values for index, values in conditions)]

    def override_key(self, key: Key, override: Mapping[str, str]) -> Key | None:
        """Replace parts of a key; None if the table lacks one of the columns."""
        if not override.keys() <= set(self.keys):
            return None
        return tuple({**dict(zip(self.keys, key, strict=True)), **override}.values())

    def read(self, key: Key | None, column: str = "value") -> Any:
        """Content of a cell in a column; None if it is missing."""
        if key is None:
            return None
        content = self.columns.get(column, {}).get(key)
        if column == "marker" and key in self.columns.get("marker", {}):
            return "" if _is_missing(content) else str(content)
        return None if _is_missing(content) else content


def compare(predicate: Predicate, cells: Cells, key: Key) -> bool | None:
    """Truth of one comparison, None where it cannot be decided."""
    truth = _compare(predicate, cells, key)
    if predicate.mark is None or truth is None:
        return truth
    return truth and predicate.mark in expand_marker(cells.read(key, "marker") or "")


def _compare(predicate: Predicate, cells: Cells, key: Key) -> bool | None:
    """Truth of a comparison without the mark that it may require."""
    left = cells.read(key, predicate.reads)
    if predicate.among:
        return _has_position(predicate, cells, key)
    against = cells.override_key(key, predicate.other) if predicate.other is not None else None
    right = predicate.value if predicate.other is None else cells.read(against, predicate.reads)
    if left is None or right is None:
        return None
    if predicate.op in ("contains", "lacks"):
        return (str(right) in expand_marker(str(left))) == (predicate.op == "contains")
    if isinstance(right, list) and predicate.op != "between":
        return (str(left) in right) == (predicate.op == "in")
    number = _divide(
        cells, key, _subtract(cells, key, as_number(left), predicate.minus), predicate.over
    )
    if isinstance(right, list):
        low, high = map(float, right)
        return None if number is None else low <= number <= high
    numbers = (number, _subtract(cells, against, as_number(right), predicate.other_minus))
    if predicate.reads == "marker" or None in numbers:
        if predicate.op in ("==", "!="):
            return (str(left) == str(right)) == (predicate.op == "==")
        return None
    first, second = numbers
    assert first is not None and second is not None
    if not _is_significant(predicate, cells, key, against, first, second):
        return None
    if predicate.absolute:
        first, second = abs(first), abs(second)
    # A mean of differences that cancel out may differ from 0 by a rounding error.
    if predicate.op in ("<", ">") and math.isclose(first, second, abs_tol=1e-9):
        return False
    return _NUMERIC[predicate.op](first, second)


def compared_pairs(predicate: Predicate, cells: Cells) -> Iterator[tuple[Key, Key]]:
    """Pairs of published cells whose values a predicate compares or subtracts."""
    if predicate.supplement is not None or predicate.reads != "value":
        return
    if "published" not in predicate.tested_on:
        return
    moves = [*filter(None, (predicate.other, predicate.minus)), *predicate.rivals]
    for key in cells.select(predicate.cells, cells.names):
        for move in moves:
            other = cells.override_key(key, move)
            if other is not None and other != key and other in cells.columns["value"]:
                yield key, other


def _has_position(predicate: Predicate, cells: Cells, key: Key) -> bool | None:
    """Whether as many cells are better as `position` requires; None if a cell has no number."""
    number = as_number(cells.read(key, predicate.reads))
    is_better = operator.gt if predicate.op == "highest" else operator.lt
    better = 0
    for override in predicate.rivals:
        rival = as_number(cells.read(cells.override_key(key, override), predicate.reads))
        if number is None or rival is None:
            return None
        better += is_better(rival, number)
    return better == predicate.position - 1


def _subtract(
    cells: Cells, key: Key | None, number: float | None, minus: Mapping[str, str] | None
) -> float | None:
    """Subtract the cell of `minus`, if any; None if it is not a number."""
    if minus is None or number is None or key is None:
        return number
    subtrahend = as_number(cells.read(cells.override_key(key, minus)))
    return None if subtrahend is None else number - subtrahend


def _divide(
    cells: Cells, key: Key | None, number: float | None, over: Mapping[str, str] | None
) -> float | None:
    """Divide by the cell of `over`, if any; None if it is zero or not a number."""
    if over is None or number is None or key is None:
        return number
    divisor = as_number(cells.read(cells.override_key(key, over)))
    return number / divisor if divisor else None


def _is_significant(
    predicate: Predicate, cells: Cells, key: Key, against: Key | None, first: float, second: float
) -> bool:
    """Whether the interval, p-value or marker, if required, shows significance."""
    bounds: list[float | None] = []
    if predicate.interval:
        bounds = [as_number(cells.read(key, column)) for column in ("low", "high")]
    elif predicate.low is not None and predicate.high is not None:
        bounds = [
            as_number(cells.read(cells.override_key(key, override)))
            for override in (predicate.low, predicate.high)
        ]
    if bounds:
        low, high = bounds
        if low is None or high is None or low <= second <= high:
            return False
    if predicate.p is not None:
        p = as_number(cells.read(cells.override_key(key, predicate.p)))
        if p is None or p >= predicate.alpha:
            return False
    if predicate.sign is not None and predicate.sign not in (cells.read(key, "marker") or ""):
        return False
    if predicate.letters:
        assert predicate.other is not None and against is not None
        greater, smaller = (key, against) if first > second else (against, key)
        (column,) = predicate.other
        letter = smaller[cells.keys.index(column)]
        return letter in expand_marker(cells.read(greater, "marker") or "")
    return True


def expand_marker(marker: str) -> str:
    """Expand ranges of letters in a marker: "a-d" becomes "abcd"."""
    return re.sub(
        r"([a-z])-([a-z])",
        lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))),
        marker,
    )


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
