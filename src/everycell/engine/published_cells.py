"""Published cells: the tidy tables of ``published/``, one row per cell, read and selected from.

The columns ``value, unit, marker, line, note`` describe a cell; all columns before ``value`` are
its *key*, which a reproduced table repeats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.engine.text_files import check_regular
from everycell.engine.untrusted import in_quotes

#: Columns of a cells file that describe a cell rather than name it.
DESCRIPTION = ("value", "unit", "marker", "line", "note")
Selector = dict[str, str | list[str]]


class CardError(Exception):
    """A card, or its published cells, cannot be used; the message says where and why."""


def is_number(text: str) -> bool:
    """Whether a published value is a number (a sign is allowed, a unit is not)."""
    digits = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
    return re.fullmatch(digits, text.strip()) is not None


def as_number(value: Any) -> float | None:
    """Read a finite number, else None: "132_1" and "1e999", which `float` accepts, are none."""
    if isinstance(value, str) and not is_number(value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def decimals_shown(text: str) -> int:
    """Number of decimals of a published number, with powers of ten written out."""
    return max(0, -int(Decimal(text.strip()).as_tuple().exponent))


def key_columns(cells: pd.DataFrame) -> list[str]:
    """Columns of a cells table that name a cell: all but those of `DESCRIPTION`.

    Examples
    --------
    >>> key_columns(pd.DataFrame(columns=["system", "metric", "value", "note"]))
    ['system', 'metric']
    """
    return [column for column in cells.columns if column not in DESCRIPTION]


def read_cells(path: Path) -> pd.DataFrame:
    r"""Read a cells file as text; "None" and "-" are kept."""
    try:
        check_regular(path, CardError)
        cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    except pd.errors.ParserError as error:
        match = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if match is None:
            raise CardError(f"{path}: cannot be read as CSV; restore the file.") from None
        raise CardError(
            f"{path}, line {match[2]}: has {match[3]} fields where {match[1]} are expected; write "
            "a decimal point and no comma, or put a text that has a comma in double quotes."
        ) from None
    except (pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise CardError(f"{path}: cannot be read as CSV ({error}); restore the file.") from None
    if not isinstance(cells.index, pd.RangeIndex):
        raise CardError(f"{path}: its rows have more fields than its header; name each column.")
    if "value" not in cells:
        raise CardError(
            f"{path}: has no column `value`; the columns are {in_quotes(list(cells.columns), 300)}."
        )
    if cells.empty:
        raise CardError(f"{path}: holds no cells; delete the file or fill it.")
    blank = cells["value"].str.strip() == ""
    if blank.any():
        raise CardError(
            f"{path}, line {int(blank.idxmax()) + 2}: has no value; write it, or drop the row."
        )
    after = set(cells.columns[list(cells.columns).index("value") :]) - set(DESCRIPTION)
    if after:
        raise CardError(
            f"{path}: the column {in_quotes(sorted(after)[0])} comes after `value`, where only "
            f"{', '.join(DESCRIPTION[1:])} may; move a column that names cells before `value`."
        )
    keys = key_columns(cells)
    if not keys:
        raise CardError(f"{path}: has no key columns before `value`; name each cell by one.")
    twice = cells.duplicated(keys)
    if twice.any():
        line = int(twice.idxmax()) + 2
        raise CardError(
            f"{path}, line {line}: a second cell for "
            f"{in_quotes(cells.loc[line - 2, keys].to_dict(), 300)}; each cell occurs once."
        )
    return cells


def select(
    table: pd.DataFrame, selector: Mapping[str, str | list[str]], *, where: str
) -> pd.Series:
    """Rows of a tidy table that a selector names, as a boolean mask.

    Examples
    --------
    >>> table = pd.DataFrame({"row": ["a", "b", "c"], "value": ["1", "2", "3"]})
    >>> select(table, {"row": ["a", "c"]}, where="toy").tolist()
    [True, False, True]
    """
    mask = pd.Series(True, index=table.index)
    for column, names in selector.items():
        if column not in table:
            raise CardError(
                f"{where}: a selector names the column {column!r}; the cells have "
                f"{key_columns(table)}."
            )
        values = [names] if isinstance(names, str) else list(names)
        unknown = set(values) - set(table[column])
        if unknown:
            raise CardError(
                f"{where}: no cell has {column} = {sorted(unknown)[0]!r}; found are "
                f"{sorted(set(table[column]))[:12]}."
            )
        mask &= table[column].isin(values)
    if not mask.any():
        raise CardError(f"{where}: no cell has {dict(selector)} all at once; correct the selector.")
    return mask


def select_any(
    table: pd.DataFrame, selectors: Iterable[Mapping[str, str | list[str]]], *, where: str
) -> pd.DataFrame:
    """Rows of a tidy table that at least one selector names, in the order of the table.

    Examples
    --------
    >>> table = pd.DataFrame({"row": ["a", "b", "c"], "value": ["1", "2", "3"]})
    >>> select_any(table, [{"row": "c"}, {"row": ["a", "c"]}], where="toy")["value"].tolist()
    ['1', '3']
    >>> len(select_any(table, [], where="toy"))
    0
    """
    mask = pd.Series(False, index=table.index)
    for selector in selectors:
        mask |= select(table, selector, where=where)
    return table[mask]


def declared_cells(declared: Mapping[str, list[Selector]], artefact: str) -> pd.DataFrame:
    """Published cells of an artefact that a rule declares as inputs, shape (n, k), all as text."""
    cells = read_cells(Path("published", f"{artefact}.csv"))
    return select_any(cells, declared[artefact], where=artefact)


def unlabelled(table: pd.DataFrame, labels: Sequence[str], *, where: str) -> pd.DataFrame:
    """Drop the key columns that only describe another one."""
    if not labels:
        return table
    rows = table.drop(columns=list(labels), errors="ignore")
    keys = key_columns(rows)
    twice = rows.duplicated(keys)
    if twice.any():
        raise CardError(
            f"{where}: without the labels {list(labels)} two cells have the key "
            f"{rows.loc[twice, keys].iloc[0].to_dict()}; tell them apart by another key column."
        )
    return rows
