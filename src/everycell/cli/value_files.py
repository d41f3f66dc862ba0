"""Files of values that were computed elsewhere, by any tool, also with several seeds."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.file_kinds import recognise_file
from everycell.base.files import sha256
from everycell.base.text_files import read_text_file
from everycell.cli.importing.columns import STATISTICS
from everycell.cli.importing.grids import SourceTable, read_tables
from everycell.cli.importing.headings import count_head
from everycell.cli.importing.tidy import Imported, import_table
from everycell.cli.importing.values import SourceCell, is_numeric, split_cell
from everycell.cli.printing import list_first
from everycell.cli.table_sources import read_values
from everycell.cli.value_choices import Choices, ChosenTable, find_heading, headings_of
from everycell.records.cells import DESCRIPTION, RecordError, cell_lines, is_number, key_columns

#: What `--mean-over` calls the files, if each has the values of one seed.
FILE = "file"
#: Words in headings of columns that number repetitions of an experiment, such as `seed_id`.
_REPETITIONS = {"seed", "run", "fold", "trial", "repeat", "repetition", "replicate", "split"}
#: Those that may also name systems or parts of the data.
_AMBIGUOUS = {"run", "split"}
#: Words of which all those in a heading of numbered topics are.
_TOPICS = {"topic", "query", "question", "qid", "id", "no", "number", "num"}
#: Names of what is computed from all of them.
_SUMMARIES = {*STATISTICS, "average", "avg", "all", "overall", "total", "sum"}


@dataclass
class ValuesFile:
    """Cells of a file, their lines in messages, their seeds if asked for, and notes."""

    path: Path
    cells: pd.DataFrame
    lines: list[str]
    #: Value of the column of `--mean-over` per cell; None if the file lacks it.
    seeds: list[str] | None
    notes: list[str]


def read_values_files(
    named_paths: Sequence[tuple[Path, str | None]], mean_over: str | None, choices: Choices
) -> list[ValuesFile]:
    """Read files, each with the published name of its only system or without."""
    files = [_read(path, name, mean_over, choices) for path, name in named_paths]
    choices.check_values()
    if mean_over is None:
        return files
    if mean_over == FILE and all(file.seeds is None for file in files):
        _refuse_copies([file.path for file in files])
        for file, label in zip(files, _labels([file.path for file in files]), strict=True):
            file.seeds = [label] * len(file.cells)
    else:
        _unify_numbers(files)
    for file in files:
        if file.seeds is None:
            advice = f", or use --mean-over {FILE}, if each file is of one seed"
            raise RecordError(
                f"--mean-over: {file.path} has no column {mean_over}; its columns of names are "
                f"{list_first(key_columns(file.cells))}; add the column"
                f"{advice * (len(files) > 1)}."
            )
        _check_seeds(file, str(mean_over))
    return files


def _unify_numbers(files: Sequence[ValuesFile]) -> None:
    """Give equal numbers of seeds one spelling; pandas writes 1.0 beside blanks."""
    seeds = {seed for file in files for seed in file.seeds or () if is_number(seed)}
    # Of several spellings, the shortest.
    spellings = {Decimal(seed): seed for seed in sorted(seeds, key=len, reverse=True)}
    for file in files:
        file.seeds = file.seeds and [
            spellings[Decimal(seed)] if seed in seeds else seed for seed in file.seeds
        ]


def _check_seeds(file: ValuesFile, mean_over: str) -> None:
    """Refuse blank seeds, and rows that a tool computed from those of all seeds."""
    for seed, line in zip(file.seeds or (), file.lines, strict=True):
        fault = "is blank" if not seed.strip() else ""
        if _summarises(seed, is_file=mean_over == FILE):
            fault = f"is {seed!r}, which summarises several"
        if fault:
            choice = shlex.quote(f"{mean_over}!={seed}")
            advice = f", or leave it out with --only {choice}" * bool(seed.strip())
            advice *= mean_over != FILE
            raise RecordError(
                f"--mean-over: {line}: {mean_over} {fault}; correct or remove it{advice}."
            )


def _summarises(seed: str, *, is_file: bool) -> bool:
    """Whether a seed, or the name or first folder of a file, is that of a mean or deviation."""
    # In folders of seeds, files such as all.csv have one name; all-MiniLM is the name of a model.
    seed = Path(Path(seed).parts[0]).stem if is_file else re.split(r"[^\w.-]+", f"{seed} ")[0]
    return seed.strip("._ ").lower() in _SUMMARIES


def names_repetitions(column: str) -> bool:
    """Whether a column numbers repetitions of an experiment, by its name."""
    return not _REPETITIONS.isdisjoint(re.split(r"[\W_]+", column.lower()))


def suggests_mean(column: str, names: Iterable[str]) -> bool:
    """Whether the name of a column, or those in it, say that it numbers repetitions or topics.

    A mean over parts of the data, systems or languages would be a wrong value.
    """
    words = {*re.split(r"[\W_]+", column.lower())} - {""}
    kinds = {re.sub(r"[\W\d_]+", "", name.lower()) for name in names}
    if words & _AMBIGUOUS:
        return kinds <= {"", *_REPETITIONS}
    is_topic = words <= _TOPICS and not words <= {"id", "no", "number", "num"}
    return names_repetitions(column) or is_topic or (bool(kinds) and kinds <= _REPETITIONS)


def _read(path: Path, name: str | None, mean_over: str | None, choices: Choices) -> ValuesFile:
    """Chosen cells of a file; results of tools are imported."""
    if recognise_file(path) == "values" and _is_plain(path):
        cells = read_values(path)
        lines = [f"{path}, line {line}" for line in cell_lines(path)]
        cells, lines = choices.choose_cells(path, cells, lines, mean_over)
        columns = key_columns(cells)
        column = find_heading(columns, mean_over) if mean_over else None
        seeds = None if column is None else [*cells.pop(columns[column])]
        return ValuesFile(path, cells, lines, seeds, [])
    tables = read_tables(path)
    if len(tables) > 1:
        raise DataError(
            path,
            fault=f"has {len(tables)} tables",
            fix="write one to a file of its own with `everycell import` and its option --number",
        )
    choice = choices.choose_rows(path, _without_index(tables[0]), mean_over)
    headings = headings_of(choice.table)
    if mean_over and (column := find_heading(headings, mean_over)) is not None:
        return _read_by_seed(path, choice, name, column)
    try:
        return _import(path, choice, name)
    except DataError:
        # Rows may repeat since they differ in a column of numbers only.
        body = choice.table.rows[count_head(choice.table) :]
        for label in headings:
            column = find_heading(headings, label)
            if column is None or not suggests_mean(label, [row[column].text for row in body]):
                continue
            try:
                seeds = _read_by_seed(path, choice, name, column).seeds
            except DataError:
                continue
            if seeds and len({*seeds}) > 1:
                raise DataError(
                    path,
                    fault=f"has several values of one cell, which differ in the column {label}",
                    fix=f"average them with --mean-over {label}",
                ) from None
        raise


def _without_index(table: SourceTable) -> SourceTable:
    """Table without the numbers of rows that pandas writes, if others name the rows."""
    head = count_head(table)
    first, *columns = zip(*table.rows, strict=True)
    numbers = [str(number) for number in range(len(table.rows) - head)]
    is_index = not any(cell.text for cell in first[:head]) and (
        [cell.text for cell in first[head:]] == numbers
    )
    has_names = any(split_cell(cell) is None for column in columns for cell in column[head:])
    if not (is_index and has_names) or table.keys:
        return table
    return replace(table, rows=[row[1:] for row in table.rows])


def _import(path: Path, choice: ChosenTable, name: str | None) -> ValuesFile:
    # Without a column of choices, rows of one system may have no name.
    name = name or (path.stem if choice.is_narrower else None)
    table = _with_row_name(choice.table, name) if name else choice.table
    return _to_values_file(path, import_table(path, table), choice)


def _to_values_file(path: Path, imported: Imported, choice: ChosenTable) -> ValuesFile:
    lines = [f"{path}, row {choice.numbers[position.row] + 1}" for position in imported.positions]
    notes = [f"{path}: imported {len(lines)} values.", *imported.notes]
    for column, names in choice.names.items():
        if column not in imported.cells:
            # Else the only published name could take its place.
            values = [names[position.row] for position in imported.positions]
            imported.cells.insert(0, column, values)
    return ValuesFile(path, imported.cells, lines, None, notes)


def _read_by_seed(path: Path, choice: ChosenTable, name: str | None, column: int) -> ValuesFile:
    """Import a table without the column of seeds, by which its rows may differ."""
    table = choice.table
    seeds = [row[column].text for row in table.rows]
    rows = [[*row[:column], *row[column + 1 :]] for row in table.rows]
    part = replace(table, rows=rows, keys=table.keys - (column < table.keys), seeds=seeds)
    # Without the seed, rows of one system may have no name.
    part = _with_row_name(part, name or path.stem)
    imported = import_table(path, part)
    file = _to_values_file(path, imported, choice)
    file.seeds = [seeds[position.row] for position in imported.positions]
    return file


def _with_row_name(table: SourceTable, name: str) -> SourceTable:
    """Table with a column of names if it has only numbers, as results of one system may have."""
    head = count_head(table)
    parts = [split_cell(cell) for row in table.rows[head:] for cell in row]
    if not all(part and is_numeric(part[0]) for part in parts):
        return table
    names = [SourceCell("System", source="")] * head
    names += [SourceCell(name)] * (len(table.rows) - head)
    rows = [[cell, *row] for cell, row in zip(names, table.rows, strict=True)]
    return replace(table, rows=rows)


def _is_plain(path: Path) -> bool:
    """Whether a CSV has no other columns than names and, from the value on, what describes it."""
    first = read_text_file(path).partition("\n")[0]
    columns = [name.strip(' "') for name in first.split(",")]
    return "" not in columns and set(columns[columns.index("value") :]) <= {*DESCRIPTION}


def _refuse_copies(paths: Sequence[Path]) -> None:
    """Refuse to count a file twice, which would make the deviation too small."""
    paths_by_hash: dict[str, Path] = {}
    for path in paths:
        if (other := paths_by_hash.setdefault(sha256(path), path)) is not path:
            raise RecordError(
                f"--mean-over {FILE}: {path} has the same content as {other}, so that one seed "
                "would count twice; give it once."
            )


def _labels(paths: Sequence[Path]) -> list[str]:
    """Short unique names of files: without folders, or from the first folder that differs."""
    if len({path.name for path in paths}) == len(paths):
        return [path.name for path in paths]
    absolute = [path.absolute() for path in paths]
    start = os.path.commonpath(absolute)
    return [path.relative_to(start).as_posix() for path in absolute]
