"""Source of a table in a new paper whose values were computed elsewhere, by any tool."""

from __future__ import annotations

import atexit
import math
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pandas as pd

from everycell.base.csv_files import csv_text
from everycell.base.files import sha256
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
from everycell.cli.value_choices import Choices, is_system_column
from everycell.cli.value_faults import choice_example, describe_columns, describe_surplus
from everycell.cli.value_files import FILE, names_repetitions, read_values_files, suggests_mean
from everycell.cli.value_means import average
from everycell.cli.value_names import READINGS, match_names
from everycell.cli.value_renames import Renames
from everycell.records.cells import RecordError, as_number, is_number, key_columns
from everycell.records.spellings import is_missing
from everycell.trec.runs import normalise_name

#: With more files than these, there is one note for all instead of one per file.
_MOST_NOTES = 12


def source_from_values(
    values: Sequence[str],
    table: Path,
    *,
    only: Sequence[str] = (),
    renames: Sequence[str] = (),
    mean_over: str | None = None,
    leave_out_others: bool = False,
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
    if mean_over and mean_over.casefold() in map(str.casefold, keys):
        raise RecordError(
            f"--mean-over: {table} has the column {mean_over} too, so that each value has a "
            "published one; remove the option."
        )
    names = [name for _, name in named_paths]
    own_keys = _keys_of_names([name for name in names if name is not None], cells, table)
    choices = Choices(only, cells)
    files = read_values_files(named_paths, mean_over, choices)
    notes: list[str] = []
    lines: dict[int, str] = {}
    seeds: dict[int, str] = {}
    parts = []
    for file in files:
        # The index of all values tells their lines and seeds.
        file.cells.index += len(lines)
        lines |= zip(file.cells.index, file.lines, strict=True)
        seeds |= zip(file.cells.index, file.seeds or [""] * len(file.lines), strict=True)
        notes += file.notes if len(paths) <= _MOST_NOTES else file.notes[1:]
    if len(paths) > _MOST_NOTES:
        notes = [f"Imported {len(lines):,} values of {len(paths)} files.", *dict.fromkeys(notes)]
    notes += choices.notes
    user_renames = Renames(renames, cells, table)
    for file, name, part in zip(
        files,
        names,
        user_renames.rename_columns(paths, [file.cells for file in files]),
        strict=True,
    ):
        parts.append(part if name is None else _with_system(file.path, part, keys, own_keys[name]))
    parts = user_renames.rename_names(parts, lines)
    notes += user_renames.notes
    renamed, adaptations = _rename_columns(parts, cells, keys)
    reproduced = pd.concat(renamed).fillna("")
    if mean_over and "metric" in reproduced:
        is_second = reproduced["metric"].str.endswith(SECOND_NUMBER)
        if is_second.any():
            names_left_out = list_first(reproduced.loc[is_second, "metric"].unique())
            adaptations.append(
                f"Left out: {pluralise(int(is_second.sum()), 'value')} of {names_left_out}, since "
                f"the deviation over {mean_over} is computed."
            )
            reproduced = reproduced[~is_second]
    adapted, comments = _adapt(reproduced, cells, keys)
    adaptations += comments
    for path, own, part in zip(paths, parts, renamed, strict=True):
        # Columns that only another file has are blank here.
        columns = [key for key in key_columns(adapted) if key in part or key not in reproduced]
        if set(columns) != set(keys):
            raise RecordError(describe_columns(path, table, own, part, cells, mean_over=mean_over))
    published = cells.set_index(keys).index
    produced = adapted.set_index(keys).index
    is_cell = produced.isin(published)
    is_second = cells["metric"].str.endswith(SECOND_NUMBER) if "metric" in cells else False
    needed = published[~(cells["value"].map(is_missing) | is_second)]
    # No other value can be that of a published cell if all these have one.
    if is_cell.any() and (leave_out_others or needed.isin(produced).all()) and not is_cell.all():
        surplus = [" / ".join(key) if len(keys) > 1 else key for key in produced[~is_cell]]
        number = pluralise(len(surplus), "value")
        listed = list_first([*dict.fromkeys(surplus)])
        adaptations.append(f"Left out: {number} that the table lacks: {listed}.")
        adapted, produced = adapted[is_cell], produced[is_cell]
    rows = [lines[index] for index in adapted.index]
    if surplus := [
        f"{row} ({' / '.join(key if len(keys) > 1 else [key])})"
        for row, key in zip(rows, produced, strict=True)
        if key not in published
    ]:
        has_unnamed = None in names
        raise RecordError(describe_surplus(surplus, table, adapted, cells, has_unnamed=has_unnamed))
    first: dict[object, str] = {}
    repeated = []
    for row, key in zip(rows, zip(produced, _seeds_of(adapted, seeds), strict=True), strict=True):
        if first.setdefault(key, row) is not row:
            repeated.append((row, first[key]))
    if repeated:
        pairs = list_first([f"{row} is also {other}" for row, other in repeated])
        is_by_file = any(row.split(",")[0] != other.split(",")[0] for row, other in repeated)
        of_seed = f" with the same {mean_over}" * bool(mean_over)
        advice = f", or average them with --mean-over {FILE} if each file is of another seed"
        raise RecordError(
            f"--values has cells twice{of_seed}: {pairs}; remove one of the two"
            f"{', or one of the renames' * bool(renames)}"
            f"{advice * (is_by_file and not mean_over)}."
        )
    # A dash or a word is no value, neither to reproduce nor reproduced.
    is_given = ~adapted["value"].map(is_missing)
    labels = [*dict.fromkeys(_seeds_of(adapted, seeds))]
    adapted, produced = adapted[is_given], produced[is_given]
    if adapted.empty:
        raise RecordError(f"--values has no number for a cell of {table}; give reproduced values.")
    rule: dict[str, object] = {"values": "values.csv"}
    compared, mean = [*produced], ""
    notes += adaptations
    changes = [*choices.changes, *(f"renamed {text}" for text in user_renames.changes)]
    changes += [text.removesuffix(".") for text in adaptations]
    if own_keys:
        changes.append(f"in this order, values of {', '.join(filter(None, names))}")
    if mean_over:
        for index, value in adapted["value"].items():
            if not is_number(value):
                raise RecordError(
                    f"{lines[index]}: {value} cannot be averaged over {mean_over}; give numbers."
                )
        means = average(adapted, labels, cells, keys, mean_over)
        compared, mean = means.produced, means.description
        rule |= means.rule
        notes += means.notes
        changes.append(means.description)
    not_run = missing_cells(
        cells, keys, [*(published.isin(compared) | cells["value"].map(is_missing))]
    )
    name, (file, *more_paths) = "values.csv", paths
    if notes or more_paths or own_keys or not is_given.all():
        columns = [*keys, *(name for name in adapted if name not in keys)]
        adapted = adapted[columns]
        if mean_over:
            adapted.insert(len(keys), mean_over, _seeds_of(adapted, seeds))
        folder = Path(tempfile.mkdtemp(prefix="everycell-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        file = folder / name
        file.write_text(csv_text(adapted), encoding="utf-8", newline="")
    return TableSource(
        cells,
        {name: file},
        "Published values",
        ", ".join(["values computed elsewhere", *[mean] * bool(mean)]),
        rule,
        not_run=not_run,
        table=table,
        originals=[*paths],
        changes=changes,
        notes=[*notes, *notes_on_not_run(not_run)],
    )


def _seeds_of(values: pd.DataFrame, seeds: Mapping[int, str]) -> list[str]:
    """Seeds of values, by their index."""
    return [seeds[index] for index in values.index]


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


def _with_system(
    path: Path, part: pd.DataFrame, keys: Sequence[str], names: dict[str, str]
) -> pd.DataFrame:
    """Reproduced values of one system under its published names, whatever the file calls it."""
    own = [
        key
        for key in key_columns(part)
        if key in names or (key not in keys and is_system_column(key))
    ]
    systems = [*part[own].drop_duplicates().agg(" / ".join, axis="columns")] if own else []
    if len(systems) > 1:
        varying = [key for key in own if part[key].nunique() > 1]
        advice = [
            f"average them with --mean-over {shlex.quote(key)}"
            if suggests_mean(key, part[key])
            else f"choose one with --only {choice_example(key, part)}"
            for key in varying[:1]
        ]
        raise RecordError(
            f"{path} has values of {pluralise(len(systems), 'system')} ({list_first(systems)}), "
            f"not only of {SEVERAL.join(names.values())}; give it without the name, or a file per "
            f"system{''.join(f', or {text}' for text in advice)}."
        )
    return pd.DataFrame(names, index=part.index).join(part.drop(columns=own))


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
            and (is_system_column(own) or not names_repetitions(own))
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
            name = reproduced[column].iloc[0]
            notes.append(f"Left out: the column {column}, which is always {name}.")
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
