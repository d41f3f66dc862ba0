"""Schemas of frames, checked where data enter: by readers and public functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from everycell.engine.untrusted import in_quotes


def check_columns(table: str, names: Iterable[str], columns: Iterable[str]) -> None:
    """Refuse a table that lacks one of these columns, or has it more than once.

    Examples
    --------
    >>> check_columns("counts.parquet", ["f", "m"], ["length", "f", "m"])
    Traceback (most recent call last):
    ValueError: counts.parquet has no column 'length': it has ['f', 'm']; give it length, f, m.
    """
    present, required = list(names), list(columns)
    for column in required:
        times = present.count(column)
        if times == 0:
            raise ValueError(
                f"{table} has no column {column!r}: it has {in_quotes(present, 300)}; give it "
                f"{', '.join(required)}."
            )
        if times > 1:
            raise ValueError(
                f"{table} has the column {in_quotes(column)} {times} times; rename or drop the "
                "others."
            )


@dataclass(frozen=True)
class Schema:
    """A kind of frame: columns of ids, columns of numbers with their range, and the key of a row.

    Examples
    --------
    >>> schema = Schema("weights", ids=("term",), ranges={"weight": (0, 1)}, key=("term",))
    >>> schema.check(pd.DataFrame({"term": ["a", "b"], "weight": [0.5, 1.5]}))
    Traceback (most recent call last):
    ValueError: Row 1 of the weights: weight is 1.5; a number from 0 to 1 is expected, so correct
    or drop the row.
    """

    name: str
    ids: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    key: tuple[str, ...] = ()

    def check(self, frame: pd.DataFrame, row_name: Callable[[int], str] | None = None) -> None:
        """Refuse a frame of another kind; `row_name` names a row in the message."""
        check_columns(f"The frame of {self.name}", frame.columns, (*self.ids, *self.ranges))
        faults = [(column, frame[column].isna(), "an id") for column in self.ids]
        for column, (low, high) in self.ranges.items():
            values = pd.to_numeric(frame[column], errors="coerce")
            faults.append((column, ~values.between(low, high), f"a number from {low} to {high}"))
        if self.key:
            twice = frame.duplicated(list(self.key))
            faults.append((self.key[-1], twice, f"each {', '.join(self.key)} only once"))
        for column, wrong, expected in faults:
            if wrong.any():
                row = int(wrong.to_numpy().argmax())
                where = row_name(row) if row_name else f"Row {row} of the {self.name}"
                value = in_quotes(frame[column].iloc[[row]].tolist()[0])
                raise ValueError(
                    f"{where}: {column} is {value}; {expected} is expected, so correct or drop "
                    "the row."
                )
