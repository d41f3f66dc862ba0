"""Read CSV files as text, those released and those of users; write frames as CSV."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.text_files import START, check_regular, misplaced_mark, refuse_other_format
from everycell.base.untrusted import in_quotes, unpack

#: Largest number of columns of a file from elsewhere.
_COLUMNS = 10_000


def read_columns(path: Path, columns: Sequence[str], separator: str = ",") -> pd.DataFrame:
    """Read columns of a released file, whose hash was verified; words such as "None" stay text."""
    table = pd.read_csv(
        path, sep=separator, usecols=list(columns), dtype=str, keep_default_na=False
    )
    return table[list(columns)]


def read_text_columns(path: Path) -> pd.DataFrame:
    """Read a CSV file from elsewhere with all values as text."""
    check_regular(path)
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as packed:
            file = io.BytesIO(unpack(packed, path))
    else:
        file = path.open("rb")
    with file:
        refuse_other_format(file.read(START), path)
        file.seek(0)
        # pandas takes minutes for a million columns.
        with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            columns = len(next(csv.reader(text), []))
            if columns > _COLUMNS:
                raise ValueError(f"it has {columns:,} columns, expected at most {_COLUMNS:,}")
            text.seek(0)
            return pd.read_csv(text, dtype=str, keep_default_na=False)


def csv_text(frame: pd.DataFrame) -> str:
    """CSV text of a frame without its index, with line feeds."""
    text = frame.to_csv(index=False, lineterminator="\n")
    if "\r" in text:
        # The writer does not quote a carriage return, which readers take for the end of a row.
        text = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text


def read_table(path: Path, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a user's CSV file with any columns, and check that it has `columns` once each."""
    try:
        table = read_text_columns(path)
        header = pd.read_csv(path, dtype=str, keep_default_na=False, header=None, nrows=1)
    except DataError:
        raise
    except pd.errors.EmptyDataError:
        raise DataError(path, fault="is empty", fix="write a header and one row per line") from None
    except FileNotFoundError:
        raise DataError(path, fault="does not exist", fix="check the path") from None
    except (ValueError, csv.Error, OSError, EOFError, zlib.error) as error:
        raise DataError(
            path, fault=f"cannot be read as CSV ({error})", fix="correct or replace the file"
        ) from None
    # If rows have more fields than the header, pandas uses the first field as the index.
    if not isinstance(table.index, pd.RangeIndex):
        raise DataError(path, fault="has rows with more fields than the header", fix="correct them")
    if len(table.columns) and len(table):
        has_mark = table.iloc[:, 0].str.startswith("\ufeff").to_numpy()
        if has_mark.any():
            raise misplaced_mark(path, f"row {row_number(path, int(has_mark.argmax()))}")
    for column in columns:
        if column not in table:
            names = in_quotes(list(table.columns[:20]), 300)
            raise DataError(path, column=column, fault=f"is missing from the columns {names}")
    names = header.iloc[0].tolist()
    for name in columns or names:
        if name and names.count(name) > 1:
            raise DataError(
                path, column=name, fault="is the name of several columns", fix="rename all but one"
            )
    if table.empty:
        raise DataError(path, fault="has a header but no rows", fix="add rows")
    return table


def row_in_file(path: Path, row: int) -> str:
    """Location of a row (from 0) for messages, counted as in a spreadsheet."""
    return f"{path}, row {row_number(path, row)}"


def row_number(path: Path, row: int) -> int:
    """Number of a row (from 0), counted as in a spreadsheet, with the header and blank lines."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            numbers = [
                number
                for number, fields in enumerate(csv.reader(file), start=1)
                # pandas skips blank lines.
                if len(fields) > 1 or "".join(fields).strip()
            ]
        return numbers[row + 1]
    except (csv.Error, IndexError, UnicodeDecodeError):
        # pandas reads some files that `csv` does not, such as packed ones or those with huge cells.
        return row + 2
