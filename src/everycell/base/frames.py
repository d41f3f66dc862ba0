"""Checks of data frames against schemas, and of the unpacked size of untrusted Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
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


#: What a column contains -> tests of its type.
_TYPES = {
    "text": (pa.types.is_string, pa.types.is_large_string),
    "numbers": (
        *(pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
        *(pa.types.is_boolean, pa.types.is_null),
    ),
}
#: Largest number of columns of a Parquet file, and of values in a small one.
_COLUMNS, _VALUES = 1_000, 2**25


def check_parquet_size(path: Path | str) -> None:
    """Refuse a Parquet file that unpacks to far more than its own size.

    Only the metadata of the file are read; pyarrow detects wrong sizes in them. Repeated texts,
    which a file may store only once, are left to `check_text_size`.
    """
    path = Path(path)
    check_regular(path)
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        if metadata.num_columns > _COLUMNS:
            raise ValueError(
                f"{path} has {metadata.num_columns:,} columns; expected at most {_COLUMNS:,}. "
                "Write it with fewer columns."
            )
        groups = range(metadata.num_row_groups)
        chunks = [
            metadata.row_group(group).column(column)
            for group in groups
            for column in range(metadata.num_columns)
        ]
        unpacked = sum(part.total_uncompressed_size for part in chunks)
        # A run of equal numbers takes almost nothing in the file, and 8 bytes each in memory.
        values = sum(part.num_values for part in chunks)
        rows = sum(metadata.row_group(group).num_rows for group in groups)
    size = path.stat().st_size
    max_rows = ROWS + ROWS_PER_BYTE * size
    if rows > max_rows:
        raise ValueError(
            f"{path} has {rows:,} rows in {size:,} bytes; expected at most {max_rows:,} rows, "
            "since each row has its own id. Write the file again."
        )
    max_values = max(_VALUES, max_unpacked_size(path) // 8)
    if values > max_values:
        raise ValueError(
            f"{path} has {values:,} values in {size:,} bytes; expected at most {max_values:,}. "
            "Write it with fewer rows or columns."
        )
    if unpacked > max_unpacked_size(path):
        raise ValueError(
            f"{path} unpacks from {size:,} to {unpacked:,} bytes; expected at most "
            f"{max_unpacked_size(path):,}. Write the file again with less compression."
        )


def check_text_size(path: Path, column: str) -> None:
    """Refuse a Parquet file with a text that is repeated to far more than the file's size."""
    size, limit = 0, max_unpacked_size(path)
    with pq.ParquetFile(path, read_dictionary=[column]) as file:
        for batch in file.iter_batches(columns=[column]):
            texts = batch.column(0)
            lengths = pc.binary_length(texts.dictionary)
            size += pc.sum(lengths.take(texts.indices)).as_py() or 0
            if size > limit:
                raise too_long_texts(path, limit)


def too_long_texts(path: Path, limit: int) -> ValueError:
    """Error for a Parquet file whose texts are far larger than the file."""
    return ValueError(
        f"{path} unpacks from {path.stat().st_size:,} to more than {limit:,} bytes, since it "
        "repeats texts. Write each text once."
    )


def check_types(
    path: Path, schema: pa.Schema, texts: Iterable[str], numbers: Iterable[str] = ()
) -> None:
    """Refuse a Parquet file if columns are not texts or numbers, as expected."""
    expected = dict.fromkeys(texts, "text") | dict.fromkeys(numbers, "numbers")
    for column, name in expected.items():
        kind = schema.field(column).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(is_valid(kind) for is_valid in _TYPES[name]):
            raise DataError(
                path,
                column=column,
                value=str(kind)[:80],
                fault="as its type",
                expected=name,
                fix="create the file again",
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
