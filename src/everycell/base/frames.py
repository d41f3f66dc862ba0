"""Schemas of data frames, against which readers and public functions check their input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from everycell.base.untrusted import in_quotes


def check_columns(table: str, names: Iterable[str], columns: Iterable[str]) -> None:
    """Refuse a table that lacks one of these columns or has it more than once."""
    present, required = list(names), list(columns)
    for column in required:
        times = present.count(column)
        if times == 0:
            raise ValueError(
                f"{table} has no column {column!r}; its columns are {in_quotes(present, 300)}, "
                f"expected {', '.join(required)}."
            )
        if times > 1:
            raise ValueError(
                f"{table} has {times} columns named {in_quotes(column)}; rename or remove all but "
                "one."
            )


@dataclass(frozen=True)
class Schema:
    """Schema of a frame: id columns, ranges of number columns, and key columns."""

    name: str
    ids: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    key: tuple[str, ...] = ()

    def check(self, frame: pd.DataFrame, row_name: Callable[[int], str] | None = None) -> None:
        """Refuse a frame that violates the schema; `row_name` formats a row for the message."""
        check_columns(f"The frame of {self.name}", frame.columns, (*self.ids, *self.ranges))
        faults = [(column, frame[column].isna(), "an id") for column in self.ids]
        for column, (low, high) in self.ranges.items():
            values = pd.to_numeric(frame[column], errors="coerce")
            faults.append((column, ~values.between(low, high), f"a number from {low} to {high}"))
        if self.key:
            duplicates = frame.duplicated(list(self.key))
            unique = " and ".join(self.key)
            unique = f"combination of {unique}" if len(self.key) > 1 else unique
            faults.append((self.key[-1], duplicates, f"a unique {unique}"))
        for column, invalid, expected in faults:
            if invalid.any():
                row = int(invalid.to_numpy().argmax())
                where = row_name(row) if row_name else f"Row {row} of the {self.name}"
                value = in_quotes(frame[column].iloc[[row]].tolist()[0])
                raise ValueError(
                    f"{where}: {column} is {value}, expected {expected}. Correct or remove the row."
                )
