"""Published cells: the tidy tables of ``published/``, one row per cell, read and selected from.

The columns ``value, unit, marker, line, note`` describe a cell; all columns before ``value`` are
its *key*, which a reproduced table repeats.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
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
    """Read a cells file as text; "None" and "-" are kept. An error has one line per fault."""
    header, rows, faults = _read_rows(path)
    faults = faults or [*_faults(header, rows)]
    if faults:
        raise CardError("\n".join(f"{path}{fault}" for fault in faults))
    return pd.DataFrame([row for _, row in rows], columns=header, dtype=str)


def cell_lines(path: Path) -> list[int]:
    """Line of each cell in its file, in the order of `read_cells`."""
    return [line for line, _ in _read_rows(path)[1]]


def _read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]], list[str]]:
    """Header, rows with the lines that they begin in, and what is not CSV."""
    check_regular(path, CardError)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            rows, faults, line = [], [], reader.line_num + 1
            for row in reader:
                if len(row) > len(header):
                    faults.append(
                        f", line {line}: has {len(row)} fields where {len(header)} are expected; "
                        "write a decimal point and no comma, or put a text that has a comma in "
                        "double quotes."
                    )
                # Blank lines are skipped.
                rows += [(line, row + [""] * (len(header) - len(row)))] * bool(row)
                line = reader.line_num + 1
    except (csv.Error, UnicodeDecodeError) as error:
        raise CardError(f"{path}: cannot be read as CSV ({error}); restore the file.") from None
    return header, rows, faults


def _faults(header: list[str], rows: list[tuple[int, list[str]]]) -> Iterator[str]:
    """What is wrong with a table of cells, each fault as the end of a sentence about the file."""
    keys = [column for column in header if column not in DESCRIPTION]
    if "value" not in header:
        near = get_close_matches("value", header, n=1)
        form = "write one row per value, with commas between the columns"
        hint = f"rename {in_quotes(near[0])}" if near else form
        columns = in_quotes(header, 300)
        yield f", line 1: has no column `value`; the columns are {columns}; {hint}."
        return
    for column, number in Counter(header).items():
        if number > 1:
            yield f", line 1: has {number} columns {in_quotes(column)}; give each its own name."
            return
    for column in header[header.index("value") :]:
        if column not in DESCRIPTION:
            yield (
                f", line 1: the column {in_quotes(column)} comes after `value`, where only "
                f"{', '.join(DESCRIPTION[1:])} may; move a column that names cells before `value`."
            )
            return
    if not keys:
        yield ", line 1: has no key columns before `value`; name each cell by one."
        return
    if not rows:
        yield ": holds no cells; delete the file or fill it."
    lines: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        cell = dict(zip(header, row, strict=True))
        key = tuple(cell[column] for column in keys)
        if not cell["value"].strip():
            yield f", line {line}: has no value; write it, or drop the row."
        if key in lines:
            yield (
                f", line {line}: a second cell for "
                f"{in_quotes(dict(zip(keys, key, strict=True)), 300)}, which line {lines[key]} "
                "has; each cell occurs once."
            )
        lines.setdefault(key, line)


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
            f"{rows.loc[twice, keys].iloc[0].to_dict()}; distinguish them by another key column."
        )
    return rows
