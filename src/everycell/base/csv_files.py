"""Read released CSV files as text, and check their columns."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.errors import CollectionError
from everycell.base.text_files import check_regular, describe_misplaced_mark
from everycell.base.untrusted import in_quotes

RATING = range(1, 5)


class RatingsError(Exception):
    """A ratings file is invalid; the message gives file, row and allowed values."""


def read_answers(path: Path, column: str, labels: Sequence[str]) -> pd.Series:
    """Read the answers to a multiple-choice question as an ordered list of labels."""
    raw = read_table(path, [column])
    options = {f"option_{number}": label for number, label in enumerate(labels, start=1)}
    check_levels(path, raw, column, list(options))
    return pd.Series(pd.Categorical(raw[column].map(options), categories=labels), name=column)


def read_table(
    path: Path,
    columns: Sequence[str] = (),
    *,
    error: type[Exception] = RatingsError,
    separator: str = ",",
) -> pd.DataFrame:
    """Read a CSV file as text, keeping words such as "None", and check that it has `columns`."""
    raw = read_csv(path, error, sep=separator)
    # If rows have more fields than the header, pandas uses the first field as the index.
    if not isinstance(raw.index, pd.RangeIndex):
        raise error(
            f"{path}: rows have more fields than the header; fetch the file again (delete it "
            "first)."
        )
    require_columns(path, raw, columns, error)
    _check_single_names(path, columns, error, separator)
    if raw.empty:
        raise error(f"{path} has a header but no rows; fetch it again.")
    return raw


def read_csv(path: Path, error: type[Exception] = RatingsError, **options: Any) -> pd.DataFrame:
    """Read a CSV file as text, with any columns."""
    try:
        check_regular(path, error)
        table = pd.read_csv(path, dtype=str, keep_default_na=False, **options)
    except pd.errors.EmptyDataError:
        raise error(f"{path} is empty; fetch it again (delete the file first).") from None
    except FileNotFoundError:
        raise error(f"{path} does not exist; check the path, or fetch the file.") from None
    except (pd.errors.ParserError, UnicodeDecodeError, OSError, EOFError, zlib.error) as fault:
        raise error(
            f"{path} cannot be read as CSV ({fault}); fetch it again (delete the file first)."
        ) from None
    if len(table.columns) and len(table):
        has_mark = table.iloc[:, 0].str.startswith("\ufeff").to_numpy()
        if "header" not in options and has_mark.any():
            raise error(describe_misplaced_mark(row_in_file(path, int(has_mark.argmax()))))
    return table


def row_in_file(path: Path, row: int) -> str:
    """Location of a row (from 0) for messages, counted as in a spreadsheet."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            numbers = [
                number
                for number, fields in enumerate(csv.reader(file), start=1)
                # pandas skips blank lines.
                if len(fields) > 1 or "".join(fields).strip()
            ]
        return f"{path}, row {numbers[row + 1]}"
    except (csv.Error, IndexError, UnicodeDecodeError):
        # pandas reads some files that `csv` does not, such as packed ones or those with huge cells.
        return f"{path}, row {row + 2}"


def reject_rows(
    path: Path,
    table: pd.DataFrame,
    column: str,
    is_invalid: pd.Series,
    allowed: str,
    error: type[Exception] = CollectionError,
) -> None:
    """Raise an error for the first invalid row; `allowed` describes the column's valid values."""
    if is_invalid.any():
        row = int(is_invalid.argmax())
        raise error(
            f"{path}, row {row + 1}: {column} is {in_quotes(table[column].iloc[row])}; expected "
            f"{allowed}, so fetch the file again (delete it first)."
        )


def _check_single_names(
    path: Path, columns: Sequence[str], error: type[Exception], separator: str = ","
) -> None:
    names = read_csv(path, error, header=None, nrows=1, sep=separator).iloc[0].tolist()
    for name in columns or names:
        if name and names.count(name) > 1:
            raise error(
                f"{path} has {names.count(name)} columns named {in_quotes(name)}; rename or remove "
                "all but one."
            )


def require_columns(
    path: Path, raw: pd.DataFrame, columns: Sequence[str], error: type[Exception] = RatingsError
) -> None:
    """Raise an error if a table lacks a column."""
    missing = [column for column in columns if column not in raw]
    if missing:
        raise error(
            f"{path} lacks the column {missing[0]!r}; its columns are "
            f"{in_quotes(list(raw.columns[:20]), 300)}."
        )


def integer_ratings(path: Path, raw: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Convert columns of ratings to integers; keys of `columns` are the new names."""
    allowed = {str(rating) for rating in RATING}
    for column in columns.values():
        values = raw[column].str.removesuffix(".0")
        is_invalid = ~values.isin(allowed)
        if is_invalid.any():
            row = int(is_invalid.idxmax())
            what = f"is {in_quotes(raw[column][row])}" if raw[column][row] else "is empty"
            raise RatingsError(
                f"{row_in_file(path, row)}: {column!r} {what}; expected a whole number from "
                f"{RATING.start} to {RATING.stop - 1}, so correct or remove the row."
            )
    return pd.DataFrame(
        {label: raw[column].str.removesuffix(".0").astype(int) for label, column in columns.items()}
    )


def check_levels(path: Path, raw: pd.DataFrame, column: str, allowed: Sequence[str]) -> None:
    """Raise an error if a column has a value that is not allowed."""
    is_invalid = ~raw[column].isin(allowed)
    if is_invalid.any():
        row = int(is_invalid.idxmax())
        raise RatingsError(
            f"{row_in_file(path, row)}: {column!r} is {in_quotes(raw[column][row])}; expected one "
            f"of {', '.join(allowed)}."
        )


def check_filled(path: Path, raw: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise an error if a name is empty, or starts or ends with white space."""
    for column in columns:
        is_empty = raw[column] == ""
        if is_empty.any():
            raise RatingsError(
                f"{row_in_file(path, int(is_empty.idxmax()))}: {column!r} is empty; fill it in or "
                "remove the row."
            )
        is_padded = raw[column] != raw[column].str.strip()
        if is_padded.any():
            row = int(is_padded.idxmax())
            raise RatingsError(
                f"{row_in_file(path, row)}: {column!r} is {in_quotes(raw[column][row])}; remove "
                "the white space before or after the name."
            )
