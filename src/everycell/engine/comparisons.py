"""One comparison of a predicate: a cell with a value, or with another cell.

A comparison is true, false or undecided (None). Significance is given beside the two numbers: by an
interval, by a p-value, or by the marker that the paper puts after a number.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from everycell.engine.claims import Predicate
from everycell.engine.published_cells import Selector, as_number

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
    """Cells of a tidy table by their key."""

    keys: list[str]
    columns: Mapping[str, Mapping[Key, Any]]

    @classmethod
    def of(cls, table: pd.DataFrame, keys: Sequence[str]) -> Cells:
        """Read a table, shape (n, k), with these key columns; later rows win over earlier ones."""
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

    def selected(self, selector: Selector, names: Iterable[Key]) -> list[Key]:
        """Keys that a selector matches, in their order; with an unknown column it matches none."""
        if not selector.keys() <= set(self.keys):
            return []
        conditions = [
            (self.keys.index(column), {value} if isinstance(value, str) else set(value))
            for column, value in selector.items()
        ]
        return [key for key in names if all(key[index] in values for index, values in conditions)]

    def moved(self, key: Key, override: Mapping[str, str]) -> Key | None:
        """Key with other values in some columns; None if the table has no such column."""
        # A column that the table lacks leads to no cell, not back to this one.
        if not override.keys() <= set(self.keys):
            return None
        return tuple({**dict(zip(self.keys, key, strict=True)), **override}.values())

    def read(self, key: Key | None, column: str = "value") -> Any:
        """Content of a cell in a column, None if there is none."""
        if key is None:
            return None
        content = self.columns.get(column, {}).get(key)
        if column == "marker" and key in self.columns.get("marker", {}):
            return "" if _is_missing(content) else str(content)
        return None if _is_missing(content) else content


def compare(predicate: Predicate, cells: Cells, key: Key) -> bool | None:
    """Truth of one comparison, None where it cannot be decided."""
    left = cells.read(key, predicate.reads)
    against = cells.moved(key, predicate.other) if predicate.other is not None else None
    right = predicate.value if predicate.other is None else cells.read(against, predicate.reads)
    if left is None or right is None:
        return None
    if predicate.op in ("contains", "lacks"):
        return (str(right) in expand_marker(str(left))) == (predicate.op == "contains")
    if isinstance(right, list):
        return (str(left) in right) == (predicate.op == "in")
    numbers = (
        _share(cells, key, _less(cells, key, as_number(left), predicate.minus), predicate.over),
        _less(cells, against, as_number(right), predicate.other_minus),
    )
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
    # A mean of differences that cancel out may differ from 0 by rounding.
    if predicate.undecided_if_equal and math.isclose(first, second, abs_tol=1e-9):
        return None
    return _NUMERIC[predicate.op](first, second)


def _less(
    cells: Cells, key: Key | None, number: float | None, minus: Mapping[str, str] | None
) -> float | None:
    """Subtract the cell that `minus` leads to; None without a number to subtract."""
    if minus is None or number is None or key is None:
        return number
    subtrahend = as_number(cells.read(cells.moved(key, minus)))
    return None if subtrahend is None else number - subtrahend


def _share(
    cells: Cells, key: Key | None, number: float | None, over: Mapping[str, str] | None
) -> float | None:
    """Divide by the cell that `over` leads to; None if there is nothing to divide by."""
    if over is None or number is None or key is None:
        return number
    divisor = as_number(cells.read(cells.moved(key, over)))
    return number / divisor if divisor else None


def _is_significant(
    predicate: Predicate, cells: Cells, key: Key, against: Key | None, first: float, second: float
) -> bool:
    """Whether the interval, p-value or marker allows a decision on the comparison."""
    ends: list[float | None] = []
    if predicate.interval:
        ends = [as_number(cells.read(key, end)) for end in ("low", "high")]
    elif predicate.low is not None and predicate.high is not None:
        ends = [
            as_number(cells.read(cells.moved(key, end))) for end in (predicate.low, predicate.high)
        ]
    if ends:
        low, high = ends
        if low is None or high is None or low <= second <= high:
            return False
    if predicate.p is not None:
        p = as_number(cells.read(cells.moved(key, predicate.p)))
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
    """Expand the ranges of letters in a marker."""
    return re.sub(
        r"([a-z])-([a-z])",
        lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))),
        marker,
    )


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
