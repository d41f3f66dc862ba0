"""Published cells: the tidy tables of ``published/``, one row per cell; and spread over seeds.

The columns before ``value`` are the *key* of a cell, by which it is matched with a reproduced cell.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from everycell.base.errors import FaultsError
from everycell.base.text_files import START, check_regular, refuse_other_format
from everycell.base.untrusted import in_quotes

#: Largest number of faults of a file that are described.
_FAULTS = 100
#: Columns that are not part of a cell's key.
DESCRIPTION = ("value", "unit", "marker", "line", "note")
Selector = dict[str, str | list[str]]


class RecordError(FaultsError):
    """A record or its published cells are invalid; the message says where and why."""


def is_number(text: str) -> bool:
    """Whether a published value is a finite number; it may have a sign but no unit."""
    digits = r"[+-]?([0-9]++(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
    return re.fullmatch(digits, text.strip()) is not None and math.isfinite(float(text))


def plain_minus(text: str) -> str:
    """Value with a hyphen instead of a typographic minus or en dash before its digits."""
    return re.sub(r"^\s*[\u2012\u2013\u2212\uff0d](?=[0-9.]*[0-9])", "-", text)


def as_number(value: Any) -> float | None:
    """Convert to a finite number, or None; unlike `float`, reject "132_1" and "1e999"."""
    if isinstance(value, str) and not is_number(value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def count_decimals(text: str) -> int:
    """Number of decimals of a published number in positional notation."""
    return max(0, -int(Decimal(text.strip()).as_tuple().exponent))


#: Columns of a table of cells, since each row is filled up to the number of columns.
_COLUMNS = 50


def key_columns(cells: pd.DataFrame) -> list[str]:
    """Key columns of a table of cells: all but those of `DESCRIPTION`."""
    return [column for column in cells.columns if column not in DESCRIPTION]


def read_cells(path: Path) -> pd.DataFrame:
    """Read a table of published cells as text; an error has one line per fault."""
    header, rows, faults = _read_rows(path)
    faults = faults[:_FAULTS] or [*itertools.islice(_faults(header, rows), _FAULTS)]
    if faults:
        raise RecordError(*(f"{path}{fault}" for fault in faults))
    cells = pd.DataFrame([row for _, row in rows], columns=header, dtype=str)
    return cells.assign(value=cells["value"].map(plain_minus))


def cell_lines(path: Path) -> list[int]:
    """Line numbers of the cells in their file, in the order of `read_cells`."""
    return [line for line, _ in _read_rows(path)[1]]


def _read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]], list[str]]:
    """Header, rows with their line numbers, and faults of the CSV format."""
    check_regular(path, RecordError)
    try:
        with path.open("rb") as file:
            refuse_other_format(file.read(START), path, RecordError)
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            if len(header) > _COLUMNS:
                raise RecordError(
                    f"{path}, line 1 has {len(header):,} columns, expected at most {_COLUMNS}; "
                    "write a row per cell."
                )
            rows, faults, line = [], [], reader.line_num + 1
            for row in reader:
                if len(row) > len(header) and len(faults) < _FAULTS:
                    faults.append(
                        f", line {line} has {len(row)} fields, expected {len(header)}; use "
                        "decimal points, and put text that contains a comma in double quotes."
                    )
                # Blank lines are skipped.
                rows += [(line, row + [""] * (len(header) - len(row)))] * bool(row)
                line = reader.line_num + 1
    except (csv.Error, UnicodeDecodeError) as error:
        raise RecordError(f"{path} cannot be read as CSV ({error}); correct the file.") from None
    return header, rows, faults


def _faults(header: list[str], rows: list[tuple[int, list[str]]]) -> Iterator[str]:
    """Faults of a table of cells, each as a text to append to the path of the file."""
    keys = [column for column in header if column not in DESCRIPTION]
    if "value" not in header:
        matches = get_close_matches("value", header, n=1)
        hint = (
            f"Rename {in_quotes(matches[0])}."
            if matches
            else "Write one row per value, with columns separated by commas."
        )
        columns = in_quotes(header, 300)
        yield f", line 1 has no column `value`; the columns are {columns}. {hint}"
        return
    for column, number in Counter(header).items():
        if number > 1:
            name = in_quotes(column)
            yield f", line 1 has {number} columns named {name}; column names must be unique."
            return
    for column in header[header.index("value") :]:
        if column not in DESCRIPTION:
            yield (
                f", line 1: the column {in_quotes(column)} is after `value`, where only "
                f"{', '.join(DESCRIPTION[1:])} are allowed; move key columns before `value`."
            )
            return
    if not keys:
        yield ", line 1 has no key columns before `value`; add at least one."
        return
    if not rows:
        yield " contains no cells; add some or delete the file."
    lines: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        cell = dict(zip(header, row, strict=True))
        key = tuple(cell[column] for column in keys)
        if not cell["value"].strip():
            yield f", line {line} has no value; add it or remove the row."
        if key in lines:
            yield (
                f", line {line} repeats the cell "
                f"{in_quotes(dict(zip(keys, key, strict=True)), 300)} of line {lines[key]}; remove "
                "one of the two rows."
            )
        lines.setdefault(key, line)


def select(
    table: pd.DataFrame, selector: Mapping[str, str | list[str]], *, where: str
) -> pd.Series:
    """Rows of a tidy table that match a selector, as a boolean mask."""
    mask = pd.Series(True, index=table.index)
    for column, names in selector.items():
        if column not in table:
            raise RecordError(
                f"{where}: a selector has the unknown column {column!r}; the key columns are "
                f"{key_columns(table)}."
            )
        values = [names] if isinstance(names, str) else list(names)
        unknown = set(values) - set(table[column])
        if unknown:
            raise RecordError(
                f"{where}: no cell has {column} = {sorted(unknown)[0]!r}; the values are "
                f"{in_quotes(sorted(set(table[column])), 300)}."
            )
        mask &= table[column].isin(values)
    if not mask.any():
        raise RecordError(f"{where}: no cell matches the selector {dict(selector)}; correct it.")
    return mask


def select_any(
    table: pd.DataFrame, selectors: Iterable[Mapping[str, str | list[str]]], *, where: str
) -> pd.DataFrame:
    """Rows of a tidy table that match at least one selector, in the order of the table."""
    mask = pd.Series(False, index=table.index)
    for selector in selectors:
        mask |= select(table, selector, where=where)
    return table[mask]


def declared_cells(declared: Mapping[str, list[Selector]], artefact: str) -> pd.DataFrame:
    """Published cells of an artefact that are declared as inputs of a rule, as text."""
    cells = read_cells(Path("published", f"{artefact}.csv"))
    return select_any(cells, declared[artefact], where=artefact)


def drop_labels(table: pd.DataFrame, labels: Sequence[str], *, where: str) -> pd.DataFrame:
    """Drop label columns, which only describe other key columns."""
    if not labels:
        return table
    rows = table.drop(columns=list(labels), errors="ignore")
    keys = key_columns(rows)
    duplicates = rows.duplicated(keys)
    if duplicates.any():
        raise RecordError(
            f"{where}: without the labels {list(labels)}, two cells have the same key "
            f"{rows.loc[duplicates, keys].iloc[0].to_dict()}; remove a column from `labels`."
        )
    return rows


#: Suffix of the supplementary table.
SEEDS = "seeds"
#: Its last key column, and the values of that column.
STATISTIC = "statistic"
STATISTICS = ("mean", "standard deviation", "lowest", "highest", "seeds")
#: Minimum number of training runs for a tolerance. With two, it would be 15.6 standard deviations,
#: which would accept almost any value.
FEWEST = 3
#: Probability that another training run is within the tolerance.
COVERAGE = 0.95
#: Sentence on the spread of a single cell, see `describe_spread`.
_SENTENCE = re.compile(r"Spread over seeds: [^()]*\([^()]*\), so .*? of their mean\. ?")


class Spread(NamedTuple):
    """Summary of a cell over n training runs; `deviation` (divisor n - 1) is NaN for n = 1."""

    mean: float
    deviation: float
    lowest: float
    highest: float
    seeds: int


def summarise_seeds(cells: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Make the supplementary table of the spread over seeds, for a table of means."""
    rows = []
    for key, values in cells.groupby(list(keys), sort=False, dropna=False)["value"]:
        numbers = values.astype(float)
        statistics = (numbers.mean(), numbers.std(), numbers.min(), numbers.max(), numbers.count())
        rows += [
            (*key, name, number)
            for name, number in zip(STATISTICS, statistics, strict=True)
            if not math.isnan(number)
        ]
    # With this type, the number of runs remains an integer.
    return pd.DataFrame(rows, columns=[*keys, STATISTIC, "value"], dtype=object)


def read_spreads(table: pd.DataFrame, keys: Sequence[str], *, where: str) -> dict[tuple, Spread]:
    """Read the spreads of cells from a supplementary table."""
    missing = [name for name in (*keys, STATISTIC, "value") if name not in table]
    if missing:
        raise RecordError(
            f"{where}: the table of seeds lacks the column {missing[0]!r}; it needs "
            f"{[*keys, STATISTIC, 'value']}."
        )
    statistics: dict[tuple, dict[str, float | None]] = {}
    columns = [*keys, STATISTIC, "value"]
    for *key, name, value in table[columns].itertuples(index=False, name=None):
        statistics.setdefault(tuple(map(str, key)), {})[name] = as_number(value)
    spreads_by_cell = {}
    for key, values in statistics.items():
        mean, deviation, lowest, highest, seeds = (values.get(name) for name in STATISTICS)
        if mean is None or lowest is None or highest is None or seeds is None:
            raise RecordError(
                f"{where}: the table of seeds lacks one of {', '.join(STATISTICS)} for the cell "
                f"{' / '.join(key)}; write it with `everycell.records.cells.summarise_seeds`."
            )
        deviation = math.nan if deviation is None else deviation
        spreads_by_cell[key] = Spread(mean, deviation, lowest, highest, int(seeds))
    return spreads_by_cell


def tolerance_of(spread: Spread, mean_of: int = 1) -> float | None:
    r"""Tolerance for the distance from our mean; None for fewer than three training runs.

    It is the half-width of the two-sided 95 % prediction interval for the mean of :math:`m` future
    observations of a normal distribution, :math:`\bar x \pm t_{n-1,\,0.975}\; s \sqrt{1/m + 1/n}`
    after :math:`n` observations (W. Q. Meeker, G. J. Hahn and L. A. Escobar, *Statistical
    Intervals*, 2nd edition, Wiley 2017, chapter 4).
    """
    if spread.seeds < FEWEST:
        return None
    # Imported here since scipy is slow to import and few records need it.
    from scipy.special import stdtrit

    quantile = float(stdtrit(spread.seeds - 1, (1 + COVERAGE) / 2))
    return quantile * spread.deviation * math.sqrt(1 / mean_of + 1 / spread.seeds)


def describe_spread(spread: Spread, decimals: int, mean_of: int = 1) -> str:
    """Describe the spread behind a tolerance, with two more digits than published."""
    within = tolerance_of(spread, mean_of)
    if within is None:
        runs = "1 training run" if spread.seeds == 1 else f"{spread.seeds} training runs"
        return f"Spread over seeds: {runs}, but a tolerance requires at least {FEWEST}."
    if within == 0:
        return f"Spread over seeds: none; {spread.seeds} training runs gave the same value."
    lowest, highest, mean, deviation, distance = (
        f"{number:.{decimals + 2}f}"
        for number in (spread.lowest, spread.highest, spread.mean, spread.deviation, within)
    )
    more = "one more" if mean_of == 1 else f"the mean of {mean_of} more"
    return (
        f"Spread over seeds: {spread.seeds} training runs gave {lowest} to {highest} (mean {mean}, "
        f"standard deviation {deviation}), so {more} is expected within {distance} of their mean."
    )


def without_spread(why: str) -> str:
    """Reason for a verdict without the spread of its cell, to group cells with the same reason."""
    return _SENTENCE.sub("", why).strip()
