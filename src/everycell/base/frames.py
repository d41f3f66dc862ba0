"""Checks of data frames against schemas, and of the unpacked size of untrusted Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from everycell.base.errors import DataError
from everycell.base.file_kinds import KINDS, recognise_file
from everycell.base.text_files import check_regular
from everycell.base.untrusted import in_quotes, max_unpacked_size


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


#: Rows allowed in a file of any size, and additional rows per byte. Rows with distinct ids take at
#: least a byte each; a million rows of a constant column take almost nothing.
ROWS, ROWS_PER_BYTE = 1_000_000, 4


def check_parquet_size(path: Path | str) -> None:
    """Refuse a Parquet file that unpacks to far more than its own size.

    Only the metadata of the file are read; pyarrow detects wrong sizes in them.
    """
    path = Path(path)
    check_regular(path)
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        groups = range(metadata.num_row_groups)
        unpacked = sum(
            metadata.row_group(group).column(column).total_uncompressed_size
            for group in groups
            for column in range(metadata.num_columns)
        )
        rows = sum(metadata.row_group(group).num_rows for group in groups)
    size = path.stat().st_size
    max_rows = ROWS + ROWS_PER_BYTE * size
    if rows > max_rows:
        raise ValueError(
            f"{path} has {rows:,} rows in {size:,} bytes; expected at most {max_rows:,} rows, "
            "since each row has its own id. Write the file again."
        )
    if unpacked > max_unpacked_size(path):
        raise ValueError(
            f"{path} unpacks from {size:,} to {unpacked:,} bytes; expected at most "
            f"{max_unpacked_size(path):,}. Write the file again with less compression."
        )


@contextmanager
def parquet_errors(path: Path | str) -> Iterator[None]:
    """Convert pyarrow's errors about unreadable files to a `ValueError` with the path."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if kind := recognise_file(Path(path)):
            raise DataError(
                path,
                fault=f"contains {KINDS[kind]}",
                expected="a Parquet file",
                fix="check the order of the files",
            ) from None
        raise DataError(
            path,
            fault="is not a Parquet file, is damaged or has columns of the wrong type "
            f"({str(error).strip()[:300]})",
            fix="create it again",
        ) from None
