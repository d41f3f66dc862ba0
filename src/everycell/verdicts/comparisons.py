"""Cells of a table by key, and one comparison of a predicate: true, false or inconclusive (None).

An interval, a p-value or a marker (a sign after a published number) can show that a difference is
not significant, which makes a comparison inconclusive.
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
Move = Mapping[str, str]

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
    """Cells of a tidy table by key; the last of duplicate rows counts."""

    keys: list[str]
    columns: Mapping[str, Mapping[Key, Any]]

    @classmethod
    def of(cls, table: pd.DataFrame, keys: Sequence[str]) -> Cells:
        """Read a table, shape (n, k), with these key columns."""
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

    def override_key(self, key: Key, move: Move) -> Key | None:
        """Replace parts of a key; None if the table lacks one of the columns."""
        parts = dict(zip(self.keys, key, strict=True))
        return tuple({**parts, **move}.values()) if move.keys() <= parts.keys() else None

    def read(self, key: Key | None, column: str = "value") -> Any:
        """Content of a cell in a column; None if it is missing."""
        cells = self.columns.get(column, {})
        content = None if key is None else cells.get(key)
        if content is None or content == "" or (isinstance(content, float) and math.isnan(content)):
            return "" if column == "marker" and key in cells else None
        return str(content) if column == "marker" else content

    def number(self, key: Key, move: Move, column: str = "value") -> float | None:
        """Number in the cell to which a move of a key leads; None if there is none."""
        return as_number(self.read(self.override_key(key, move), column))

    def marker(self, key: Key) -> str:
        """Marker of a cell with its ranges of letters expanded; empty if it has none."""
        return expand_marker(self.read(key, "marker") or "")


def compare(predicate: Predicate, cells: Cells, key: Key) -> bool | None:
    """Truth of one comparison, None where it cannot be decided."""
    truth = _compare(predicate, cells, key)
    return truth and (predicate.mark is None or predicate.mark in cells.marker(key))


def _compare(predicate: Predicate, cells: Cells, key: Key) -> bool | None:
    """Truth of a comparison without the mark that it may require."""
    op = predicate.op
    if predicate.among:
        return _has_position(predicate, cells, key)
    against = None if predicate.other is None else cells.override_key(key, predicate.other)
    left = cells.read(key, predicate.reads)
    right = predicate.value if predicate.other is None else cells.read(against, predicate.reads)
    if left is None or right is None:
        return None
    if op in ("contains", "lacks"):
        return (str(right) in expand_marker(str(left))) == (op == "contains")
    if isinstance(right, list) and op != "between":
        return (str(left) in right) == (op == "in")
    first = as_number(left)
    if first is not None and predicate.minus is not None:
        operand = cells.number(key, predicate.minus)
        first = None if operand is None else first - operand
    if first is not None and predicate.over is not None:
        operand = cells.number(key, predicate.over)
        first = first / operand if operand else None
    if isinstance(right, list):
        low, high = map(float, right)
        return None if first is None else low <= first <= high
    second = as_number(right)
    if second is not None and against is not None and predicate.other_minus is not None:
        operand = cells.number(against, predicate.other_minus)
        second = None if operand is None else second - operand
    if predicate.reads == "marker" or first is None or second is None:
        return (str(left) == str(right)) == (op == "==") if op in ("==", "!=") else None
    if not _is_significant(predicate, cells, key, against, first, second):
        return None
    if predicate.absolute:
        first, second = abs(first), abs(second)
    # A mean of differences that cancel out may differ from 0 by a rounding error.
    if op in ("<", ">") and math.isclose(first, second, abs_tol=1e-9):
        return False
    return _NUMERIC[op](first, second)


def compared_pairs(predicate: Predicate, cells: Cells) -> Iterator[tuple[Key, Key]]:
    """Pairs of published cells whose values a predicate compares or subtracts."""
    is_on_published = predicate.supplement is None and "published" in predicate.tested_on
    if not is_on_published or predicate.reads != "value":
        return
    moves = [*filter(None, (predicate.other, predicate.minus)), *predicate.rivals]
    for key in cells.select(predicate.cells, cells.names):
        for move in moves:
            other = cells.override_key(key, move)
            if other is not None and other != key and other in cells.columns["value"]:
                yield key, other


def _has_position(predicate: Predicate, cells: Cells, key: Key) -> bool | None:
    """Whether as many cells are better as `position` requires; None if a cell has no number."""
    number = cells.number(key, {}, predicate.reads)
    is_better = operator.gt if predicate.op == "highest" else operator.lt
    better = 0
    for move in predicate.rivals:
        rival = cells.number(key, move, predicate.reads)
        if number is None or rival is None:
            return None
        better += is_better(rival, number)
    return better == predicate.position - 1


def _is_significant(
    predicate: Predicate, cells: Cells, key: Key, against: Key | None, first: float, second: float
) -> bool:
    """Whether the interval, p-value or marker, if required, shows significance."""
    bounds: list[float | None] = []
    if predicate.interval:
        bounds = [cells.number(key, {}, column) for column in ("low", "high")]
    elif predicate.low is not None and predicate.high is not None:
        bounds = [cells.number(key, move) for move in (predicate.low, predicate.high)]
    if bounds:
        low, high = bounds
        if low is None or high is None or low <= second <= high:
            return False
    if predicate.p is not None:
        p = cells.number(key, predicate.p)
        if p is None or p >= predicate.alpha:
            return False
    if predicate.sign is not None and predicate.sign not in (cells.read(key, "marker") or ""):
        return False
    if not predicate.letters:
        return True
    assert predicate.other is not None and against is not None
    greater, smaller = (key, against) if first > second else (against, key)
    (column,) = predicate.other
    return smaller[cells.keys.index(column)] in cells.marker(greater)


def expand_marker(marker: str) -> str:
    """Expand ranges of letters in a marker: "a-d" becomes "abcd"."""
    return re.sub(
        r"([a-z])-([a-z])",
        lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))),
        marker,
    )
