"""Tables that authors released as CSV: read as text, checked column by column."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.collections.errors import CollectionError
from everycell.engine.text_files import check_regular, describe_misplaced_mark
from everycell.engine.untrusted import in_quotes

RATING = range(1, 5)


class RatingsError(Exception):
    """A ratings file cannot be used; the message names file, row, and what is allowed."""


def read_answers(path: Path, column: str, labels: Sequence[str]) -> pd.Series:
    """Answers to a multiple-choice question, under the published labels, in order."""
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
    """Read a released CSV as text, in which "None" is an ordinary word; it must have `columns`."""
    raw = read_csv(path, error, sep=separator)
    # pandas would take the first field as the row's name and shift all others by one column.
    if not isinstance(raw.index, pd.RangeIndex):
        raise error(
            f"{path}: its rows have more fields than its header; fetch it again (delete the file "
            "first)."
        )
    require_columns(path, raw, columns, error)
    _check_single_names(path, columns, error, separator)
    if raw.empty:
        raise error(f"{path}: has a header and no rows; fetch it again.")
    return raw


def read_csv(path: Path, error: type[Exception] = RatingsError, **options: Any) -> pd.DataFrame:
    """Read a CSV as text, whatever its columns."""
    try:
        check_regular(path, error)
        table = pd.read_csv(path, dtype=str, keep_default_na=False, **options)
    except pd.errors.EmptyDataError:
        raise error(f"{path}: is empty; fetch it again (delete the file first).") from None
    except FileNotFoundError:
        raise error(f"{path}: does not exist; check the path, or fetch the file.") from None
    except (pd.errors.ParserError, UnicodeDecodeError, OSError, EOFError, zlib.error) as fault:
        raise error(
            f"{path}: cannot be read as CSV ({fault}); fetch it again (delete the file first)."
        ) from None
    if len(table.columns) and len(table):
        marked = table.iloc[:, 0].str.startswith("\ufeff").to_numpy()
        if "header" not in options and marked.any():
            raise error(describe_misplaced_mark(row_in_file(path, int(marked.argmax()))))
    return table


def row_in_file(path: Path, row: int) -> str:
    r"""Name a row of `read_table` (from 0) in a message, as a spreadsheet counts it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "study.csv"
    >>> _ = path.write_text("rating,level\n\n4,None\n")
    >>> row_in_file(path, 0).endswith("study.csv, row 3")
    True
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            numbers = [
                number
                for number, fields in enumerate(csv.reader(file), start=1)
                # pandas skips the others as blank lines; the first is the header.
                if len(fields) > 1 or "".join(fields).strip()
            ]
        return f"{path}, row {numbers[row + 1]}"
    except (csv.Error, IndexError, UnicodeDecodeError):
        # Files that pandas reads and this reader does not: a cell of 200,000 characters, a packed
        # file.
        return f"{path}, row {row + 2}"


def refuse_rows(
    path: Path,
    table: pd.DataFrame,
    column: str,
    bad: pd.Series,
    allowed: str,
    error: type[Exception] = CollectionError,
) -> None:
    """Refuse the first row marked as bad; the message says what is allowed in this column."""
    if bad.any():
        row = int(bad.argmax())
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
                f"{path}: has the column {in_quotes(name)} {names.count(name)} times; rename or "
                "drop the others."
            )


def require_columns(
    path: Path, raw: pd.DataFrame, columns: Sequence[str], error: type[Exception] = RatingsError
) -> None:
    """Refuse a table that lacks a column."""
    missing = [column for column in columns if column not in raw]
    if missing:
        raise error(
            f"{path}: lacks the column {missing[0]!r}; it has "
            f"{in_quotes(list(raw.columns[:20]), 300)}."
        )


def integer_ratings(path: Path, raw: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Columns of ratings as integers, under their labels."""
    allowed = {str(rating) for rating in RATING}
    for column in columns.values():
        values = raw[column].str.removesuffix(".0")
        bad = ~values.isin(allowed)
        if bad.any():
            row = int(bad.idxmax())
            what = f"is {in_quotes(raw[column][row])}" if raw[column][row] else "is empty"
            raise RatingsError(
                f"{row_in_file(path, row)}: {column!r} {what}; a rating is a whole number from "
                f"{RATING.start} to {RATING.stop - 1}, so correct or drop the row."
            )
    return pd.DataFrame(
        {label: raw[column].str.removesuffix(".0").astype(int) for label, column in columns.items()}
    )


def check_levels(path: Path, raw: pd.DataFrame, column: str, allowed: Sequence[str]) -> None:
    """Refuse a value of a column that is not allowed."""
    bad = ~raw[column].isin(allowed)
    if bad.any():
        row = int(bad.idxmax())
        raise RatingsError(
            f"{row_in_file(path, row)}: {column!r} is {in_quotes(raw[column][row])}; expected "
            f"{', '.join(allowed)}."
        )


def check_filled(path: Path, raw: pd.DataFrame, columns: Sequence[str]) -> None:
    """Refuse names that are empty, or that start or end with a blank."""
    for column in columns:
        blank = raw[column] == ""
        if blank.any():
            raise RatingsError(
                f"{row_in_file(path, int(blank.idxmax()))}: {column!r} is empty; expected any "
                "name, so fill it in or drop the row."
            )
        loose = raw[column] != raw[column].str.strip()
        if loose.any():
            row = int(loose.idxmax())
            raise RatingsError(
                f"{row_in_file(path, row)}: {column!r} is {in_quotes(raw[column][row])}; "
                "expected a name without blanks before or after it, so remove them."
            )
