"""Source of a table in a new paper whose values were computed elsewhere, by any tool."""

from __future__ import annotations

import atexit
import math
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.csv_files import csv_text
from everycell.base.errors import DataError
from everycell.base.file_kinds import recognise_file
from everycell.base.files import sha256
from everycell.base.text_files import read_text_file
from everycell.cli.importing.grids import SourceTable, read_tables
from everycell.cli.importing.headings import is_collection_heading, is_system_heading
from everycell.cli.importing.tidy import import_table
from everycell.cli.importing.values import SourceCell, is_numeric, split_cell
from everycell.cli.named_files import path_and_name
from everycell.cli.printing import list_first, pluralise
from everycell.cli.table_sources import (
    SECOND_NUMBER,
    SEVERAL,
    TableSource,
    missing_cells,
    notes_on_not_run,
    read_values,
)
from everycell.cli.value_names import READINGS, match_names
from everycell.records.cells import DESCRIPTION, RecordError, as_number, cell_lines, key_columns
from everycell.records.spellings import is_missing
from everycell.trec.runs import normalise_name

#: With more files than these, there is one note for all instead of one per file.
_MOST_NOTES = 12


def source_from_values(
    values: Sequence[str], table: Path, *, leave_out_others: bool = False
) -> TableSource:
    """Source of a table whose reproduced values are in files, each FILE or NAME=FILE."""
    named_paths = [path_and_name(text) for text in values]
    paths = [path for path, _ in named_paths]
    for path in paths:
        if path.is_file() and table.is_file() and sha256(path) == sha256(table):
            raise RecordError(
                f"{path} is the same file as {table}, so that every value would equal itself; give "
                "the values that you computed as --values."
            )
    cells = read_values(table)
    keys = key_columns(cells)
    names = [name for _, name in named_paths]
    own_keys = _keys_of_names([name for name in names if name is not None], cells, table)
    parts = []
    lines: list[str] = []
    notes: list[str] = []
    for path, name in named_paths:
        part, lines_of_part, comments = _read_reproduced(path, name)
        parts.append(part if name is None else _with_system(path, part, keys, own_keys[name]))
        lines += lines_of_part
        notes += comments if len(paths) <= _MOST_NOTES else comments[1:]
    if len(paths) > _MOST_NOTES:
        notes = [f"Imported {len(lines):,} values of {len(paths)} files.", *dict.fromkeys(notes)]
    renamed, comments = _rename_columns(parts, cells, keys)
    notes += comments
    reproduced = pd.concat(renamed, ignore_index=True).fillna("")
    adapted, comments = _adapt(reproduced, cells, keys)
    notes += comments
    for path, own, part in zip(paths, parts, renamed, strict=True):
        # Columns that only another file has are blank here.
        columns = [key for key in key_columns(adapted) if key in part or key not in reproduced]
        if set(columns) != set(keys):
            absent = {key: [*cells[key].unique()] for key in keys if key not in part}
            known = "; ".join(f"{key}: {list_first(names)}" for key, names in absent.items())
            varying = [key for key in keys if key != "metric" and cells[key].nunique() > 1]
            example = SEVERAL.join(cells[varying].iloc[0]) if {*varying} & {*absent} else ""
            advice = f", or write the name before the file, as in --values '{example}={path}'"
            raise RecordError(
                f"{path}: the key columns are {', '.join(key_columns(own))}, but those of "
                f"{table} are {', '.join(keys)}; use the same columns in both files"
                f"{f', or the published names ({known})' * bool(known)}"
                f"{advice * bool(example)}."
            )
    published = cells.set_index(keys).index
    produced = adapted.set_index(keys).index
    is_cell = produced.isin(published)
    is_second = cells["metric"].str.endswith(SECOND_NUMBER) if "metric" in cells else False
    needed = published[~(cells["value"].map(is_missing) | is_second)]
    # No other value can be that of a published cell if all these have one.
    if is_cell.any() and (leave_out_others or needed.isin(produced).all()) and not is_cell.all():
        surplus = [" / ".join(key) if len(keys) > 1 else key for key in produced[~is_cell]]
        number = pluralise(len(surplus), "value")
        notes.append(f"Left out: {number} that the table lacks: {list_first(surplus)}.")
        adapted, produced = adapted[is_cell], produced[is_cell]
    rows = [lines[index] for index in adapted.index]
    if surplus := [
        f"{row} ({' / '.join(key if len(keys) > 1 else [key])})"
        for row, key in zip(rows, produced, strict=True)
        if key not in published
    ]:
        absent = {
            key: [name for name in cells[key].unique() if name not in set(adapted[key])]
            for key in keys
        }
        known = "; ".join(f"{key}: {list_first(names)}" for key, names in absent.items() if names)
        one = len(surplus) == 1
        system = next(
            (
                names[0]
                for key, names in absent.items()
                if names and key != "metric" and not is_collection_heading(key)
            ),
            "",
        )
        advice = f", write them before the files of one system, as in --values '{system}=FILE'"
        raise RecordError(
            f"{pluralise(len(surplus), 'value')} of --values {'is' if one else 'are'} not in "
            f"{table}: {list_first(surplus)}; use the published names"
            f"{f' (still without a value are {known})' * bool(known)}"
            f"{advice * (bool(system) and None in names)}, or leave "
            f"{'it' if one else 'them'} out with --leave-out-others."
        )
    first = dict(zip(reversed(produced), reversed(rows), strict=True))
    if repeated := [
        f"{rows[index]} is also {first[produced[index]]}"
        for index in np.flatnonzero(produced.duplicated())
    ]:
        raise RecordError(
            f"--values has cells twice: {list_first(repeated)}; remove one of the two."
        )
    # A dash or a word is no value, neither to reproduce nor reproduced.
    is_given = ~adapted["value"].map(is_missing)
    adapted, produced = adapted[is_given], produced[is_given]
    if adapted.empty:
        raise RecordError(f"--values has no number for a cell of {table}; give reproduced values.")
    not_run = missing_cells(
        cells, keys, [*(published.isin(produced) | cells["value"].map(is_missing))]
    )
    name, (file, *more_paths) = "values.csv", paths
    if notes or more_paths or own_keys or not is_given.all():
        adapted = adapted[[*keys, *(name for name in adapted if name not in keys)]]
        folder = Path(tempfile.mkdtemp(prefix="everycell-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        file = folder / name
        file.write_text(csv_text(adapted), encoding="utf-8", newline="")
    return TableSource(
        cells,
        {name: file},
        "Published values",
        "values computed elsewhere",
        {"values": name},
        not_run=not_run,
        table=table,
        originals=[*paths],
        notes=[*notes, *notes_on_not_run(not_run)],
    )


def _keys_of_names(
    names: Sequence[str], cells: pd.DataFrame, table: Path
) -> dict[str, dict[str, str]]:
    """Keys of the names that the user gives to files: one, or those of several columns."""
    keys = [key for key in key_columns(cells) if key != "metric"]
    best = max(keys, key=lambda key: cells[key].isin(names).any(), default="")
    keys_by_name = {name: {best: name} for name in names if best and name in set(cells[best])}
    varying = [key for key in keys if cells[key].nunique() > 1]
    rows = cells[varying].to_dict("records") if len(varying) > 1 else []
    joined = {SEVERAL.join(row.values()): row for row in rows}
    for name in names:
        matches = [known for known in joined if normalise_name(known) == normalise_name(name)]
        matches = [name] if name in joined else matches
        if name not in keys_by_name and len(matches) == 1:
            keys_by_name[name] = {str(key): text for key, text in joined[matches[0]].items()}
    if unknown := [name for name in names if name not in keys_by_name]:
        known = "; ".join(f"{key}: {list_first([*cells[key].unique()], 12)}" for key in keys)
        raise RecordError(
            f"--values: {unknown[0]} is not a system of {table} ({known}); write the published "
            f"name before the file{', as in ' + repr(next(iter(joined))) if joined else ''}."
        )
    return keys_by_name


def _names_systems(column: str) -> bool:
    """Whether a column of results has names of systems, as `run_name` and `name` too."""
    column = column.lower()
    return column == "name" or is_system_heading(column.removesuffix("name").removesuffix("_"))


def _with_system(
    path: Path, part: pd.DataFrame, keys: Sequence[str], names: dict[str, str]
) -> pd.DataFrame:
    """Reproduced values of one system under its published names, whatever the file calls it."""
    own = [
        key
        for key in key_columns(part)
        if key in names or (key not in keys and _names_systems(key))
    ]
    systems = [*part[own].drop_duplicates().agg(" / ".join, axis="columns")] if own else []
    if len(systems) > 1:
        raise RecordError(
            f"{path} has values of {pluralise(len(systems), 'system')} ({list_first(systems)}), "
            f"not only of {SEVERAL.join(names.values())}; give it without the name, or a file per "
            "system."
        )
    return pd.DataFrame(names, index=part.index).join(part.drop(columns=own))


def _with_row_name(table: SourceTable, name: str) -> SourceTable:
    """Table with a column of names if it has only numbers, as results of one system may have."""
    parts = [split_cell(cell) for row in table.rows[1:] for cell in row]
    if not all(part and is_numeric(part[0]) for part in parts):
        return table
    first = [SourceCell("System", source=""), *(SourceCell(name) for _ in table.rows[1:])]
    rows = [[cell, *row] for cell, row in zip(first, table.rows, strict=True)]
    return replace(table, rows=rows)


def _read_reproduced(path: Path, name: str | None) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Reproduced values, the row of each, and notes; results of tools are imported."""
    if recognise_file(path) == "values" and _is_plain(path):
        return read_values(path), [f"{path}, line {line}" for line in cell_lines(path)], []
    tables = read_tables(path)
    if len(tables) > 1:
        raise DataError(
            path,
            fault=f"has {len(tables)} tables",
            fix="write one to a file of its own with `everycell import` and its option --number",
        )
    (source,) = tables
    imported = import_table(path, _with_row_name(source, name) if name else source)
    rows = [f"{path}, row {position.row + 1}" for position in imported.positions]
    return imported.cells, rows, [f"{path}: imported {len(rows)} values.", *imported.notes]


def _is_plain(path: Path) -> bool:
    """Whether a CSV has no other columns than names and, from the value on, what describes it."""
    first = read_text_file(path).partition("\n")[0]
    columns = [name.strip(' "') for name in first.split(",")]
    return "" not in columns and set(columns[columns.index("value") :]) <= {*DESCRIPTION}


def _rename_columns(
    parts: Sequence[pd.DataFrame], cells: pd.DataFrame, keys: Sequence[str]
) -> tuple[list[pd.DataFrame], list[str]]:
    """Reproduced values with columns as published if they share names, and notes on these."""
    candidates: dict[str, list[str]] = {}
    for own in dict.fromkeys(own for part in parts for own in key_columns(part)):
        files = [part for part in parts if own in part]
        names = {reading(name) for part in files for name in part[own] for reading in READINGS}
        names.discard("")
        candidates[own] = [
            key
            for key in keys
            if own not in keys
            and not any(key in part for part in files)
            and not names.isdisjoint(map(normalise_name, cells[key]))
        ]
    renamed, notes = [], []
    for part in parts:
        matches = [candidates[own] for own in key_columns(part)]
        columns = {
            own: candidates[own][0]
            for own in key_columns(part)
            if len(candidates[own]) == 1 and matches.count(candidates[own]) == 1
        }
        renamed.append(part.rename(columns=columns))
        notes += [f"Read: the column {own} as {key}." for own, key in columns.items()]
    return renamed, [*dict.fromkeys(notes)]


def _adapt(
    reproduced: pd.DataFrame, cells: pd.DataFrame, keys: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Reproduced values as the table has them, and notes on what was changed.

    Tools name their only system, which a table of one system does not, have names and measures of
    their own, and write shares where papers print percentages.
    """
    adapted, notes = reproduced.copy(), []
    for column in key_columns(adapted):
        if column not in keys and reproduced[column].nunique() == 1:
            notes.append(f"Left out: the column {column}, which is always {reproduced[column][0]}.")
            adapted = adapted.drop(columns=column)
    has_dropped = len(adapted.columns) < len(reproduced.columns)
    for column in keys:
        # A column with another name may name another system.
        if not has_dropped and column not in adapted and cells[column].nunique() == 1:
            notes.append(f"Added: the column {column}, which is always {cells[column][0]}.")
            adapted.insert(0, column, cells[column][0])
    if set(key_columns(adapted)) != set(keys):
        return reproduced, []
    adapted, comments = match_names(adapted, cells, keys)
    notes += comments
    pairs = adapted.merge(cells, on=list(keys), suffixes=("", "_published"))
    # Without any pair, pandas keeps both columns as texts.
    published, reproduced_values = (
        pairs[name].map(as_number).astype(float) for name in ("value_published", "value")
    )
    measures, measures_of_pairs = (
        frame["metric"] if "metric" in keys else pd.Series("all values", frame.index)
        for frame in (adapted, pairs)
    )
    quotients = published / reproduced_values
    medians = quotients[quotients < math.inf].groupby(measures_of_pairs).median()
    numbers = adapted["value"].map(as_number)
    groups = adapted.groupby(measures, sort=False).groups
    are_percentages: set[str] = set()
    # A deviation is in percent if its mean is.
    for measure in sorted(groups, key=lambda measure: measure.endswith(SECOND_NUMBER)):
        rows = groups[measure]
        shares = numbers[rows].dropna()
        of_mean = measure.removesuffix(next(filter(measure.endswith, SECOND_NUMBER), ""))
        is_percentage = (
            50 < medians.get(measure, 0.0) < 200
            if of_mean == measure
            else of_mean in are_percentages
        )
        if is_percentage and shares.between(0, 1).all():
            are_percentages.add(measure)
            scaled = adapted["value"][shares.index].map(lambda text: f"{100 * Decimal(text):f}")
            adapted.loc[shares.index, "value"] = scaled
            notes.append(
                f"{measure}: multiplied by 100, since the published values are percentages."
            )
    return adapted, notes
