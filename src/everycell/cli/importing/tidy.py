"""From the grid of a published table to published cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pandas as pd

from everycell.base.errors import DataError
from everycell.cli.importing.columns import (
    deviations_of_columns,
    is_in_percent,
    is_score,
    measure_in_corner,
    name_columns,
    names_collections,
    names_measures,
    split_measure,
    titles_above,
)
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.headings import count_head, label_of_column, name_rows
from everycell.cli.importing.long_tables import one_value_per_row
from everycell.cli.importing.markdown import BEYOND
from everycell.cli.importing.offers import BOLD, UNDERLINED
from everycell.cli.importing.pairs import split_columns, split_row_names
from everycell.cli.importing.rows import (
    is_group,
    is_measure,
    is_spanning,
    refuse_second_heading,
    repeats_column,
    repeats_heading,
    shorten,
    spans_columns,
)
from everycell.cli.importing.unread import (
    check_unread,
    replace_words,
    without_numbers_across,
)
from everycell.cli.importing.values import (
    DEVIATION,
    Column,
    Part,
    SourceCell,
    decide_commas,
    is_duration,
    is_numeric,
    is_time,
    plain_number,
    resolve_letters,
    split_cell,
)
from everycell.cli.printing import pluralise
from everycell.records.cells import key_columns
from everycell.records.spellings import is_no_value


class Position(NamedTuple):
    """Position of a value in the grid, and its role if the cell has several numbers."""

    row: int
    column: int
    role: str


@dataclass
class Imported:
    """Published cells of a published table, with their positions in the grid."""

    cells: pd.DataFrame
    positions: list[Position]
    table: SourceTable
    #: Number of rows that are headings, and the columns that name the rows.
    head: int
    labels: list[int]
    #: Key columns -> their published headings.
    headings: dict[str, str]
    #: What was decided or left out, for the user.
    notes: list[str] = field(default_factory=list)


def import_table(path: object, table: SourceTable, measure: str | None = None) -> Imported:
    """Read the published cells; `measure` is that of all values if only the caption names it."""
    notes = [*table.notes]
    unknown = dict.fromkeys(name for row in table.rows for cell in row for name in cell.unknown)
    if unknown:
        names = shorten(unknown)
        notes.append(f"Read as their names, since the file does not define them: {names}.")
    table = _without_cells_beyond(table, notes)
    head = count_head(table)
    table = split_row_names(one_value_per_row(table, head, notes), head)
    table = split_columns(table, head, notes)
    body = [row for row in range(head, len(table.rows)) if not is_spanning(table.rows[row])]
    if remarks := len(table.rows) - head - len(body) - sum(map(is_group, table.rows[head:])):
        notes.append(f"Not imported, since they are remarks: {pluralise(remarks, 'row')}.")
    parts = {
        (row, column): split_cell(cell)
        for row in body
        for column, cell in enumerate(table.rows[row])
    }
    texts, numbers = _kinds_of_columns(table, head, body, parts, notes)
    if repeated := [row for row in body if repeats_heading(table, head, row)]:
        notes.append(f"Not imported: {pluralise(len(repeated), 'row')} with the heading again.")
    body = [row for row in body if row not in repeated]
    for row in body:
        refuse_second_heading(path, table, head, row, texts, numbers)
    replace_words(table, head, body, numbers, parts, notes)
    body = check_unread(path, table, head, body, numbers, parts, notes)
    body = without_numbers_across(table, body, numbers, parts, notes)
    is_chosen = bool(table.keys or table.names)
    if texts and not is_chosen and split_measure(label_of_column(table, head, texts[0]))[0]:
        cells = [parts[row, texts[0]] for row in body]
        if all(cell and is_numeric(cell[0]) for cell in cells):
            raise DataError(
                path, fault="has a table without names of rows", fix="add a first column"
            )
    labels, row_names, row_keys = name_rows(path, table, head, body, texts, numbers, notes)
    numbers = [column for column in numbers if column not in labels]
    if blank := [row for row in body if not any(parts[row, column] for column in numbers)]:
        names = shorten(" / ".join(row_keys[row]) for row in blank)
        notes.append(f"Not imported: {pluralise(len(blank), 'row')} without values: {names}.")
    is_given = measure is not None or "metric" in row_names
    if not is_given and names_measures(table, head, numbers, row_keys):
        row_names[-1] = "metric"
    if not is_given and (corner := measure_in_corner(table, head, numbers, labels[-1])):
        (measure, of_all), row_names[-1] = corner, "system"
        if of_all:
            notes.append(f"No key, since it is that of all values: {of_all}.")
    if row_names[-1] == "system" and names_collections([key[-1] for key in row_keys.values()]):
        row_names[-1] = "collection"
    if titles := titles_above(table, head, numbers):
        notes.append(f"Read as a title, not as a key: {shorten(titles)}.")
    deviations = _deviations(table, head, body, numbers, parts, notes)
    column_keys, column_names = name_columns(table, head, numbers, measure, row_names, deviations)
    column_keys |= {column: column_keys[value] for column, value in deviations.items()}
    values = _by_position(table, numbers, body, parts)
    if "metric" not in [*row_names, *column_names]:
        notes.append("The table names no measure; if all values are of one, add --measure NAME.")
        if any(position.role for position in values):
            column_names = [*column_names, "metric"]
            column_keys = {column: [*key, "value"] for column, key in column_keys.items()}
    unreported = [
        text
        for row, column in dict.fromkeys((position.row, position.column) for position in values)
        if is_no_value(text := table.rows[row][column].text)
    ]
    if unreported:
        spellings = shorten(dict.fromkeys(unreported))
        notes.append(
            f"Read as –, without a value: {spellings} ({pluralise(len(unreported), 'cell')})."
        )
    plain = _plain_values(path, table, head, values, row_keys, notes)
    rows = []
    for position, part in values.items():
        names = [*row_names, *column_names]
        key = dict(
            zip(names, [*row_keys[position.row], *column_keys[position.column]], strict=True)
        )
        rows.append(
            {
                **key,
                **(
                    {"metric": f"{key['metric']} {position.role}".strip()}
                    if "metric" in key
                    else {}
                ),
                "value": plain[position],
                "unit": part.unit or "%" * is_in_percent(table, head, position.column),
                "marker": part.marker,
                "note": ""
                if position.role
                else _emphasis(table.rows[position.row][position.column]),
            }
        )
    if not rows:
        raise DataError(path, fault="has a table without numbers", fix="choose another --number")
    cells = pd.DataFrame(rows)
    cells = cells.drop(
        columns=[name for name in ("unit", "marker", "note") if not any(cells[name])]
    )
    keys = key_columns(cells)
    seeds = [(*table.seeds[position.row : position.row + 1],) for position in values]
    if (repeated := pd.concat([cells[keys], pd.Series(seeds)], axis="columns").duplicated()).any():
        index = int(repeated.to_numpy().argmax())
        raise DataError(
            path,
            f"row {[*values][index].row + 1} of the table",
            fault=f"repeats the cell {' / '.join(cells.loc[index, keys])}",
            fix="give rows and columns different names",
        )
    headings = dict(
        zip(
            row_names[len(row_names) - len(labels) :],
            (label_of_column(table, head, column) for column in labels),
            strict=True,
        )
    )
    return Imported(cells, [*values], table, head, labels, headings, notes)


def _without_cells_beyond(table: SourceTable, notes: list[str]) -> SourceTable:
    """Table without cells beyond the heading, which readers of Markdown do not see."""
    width = sum(cell.text != BEYOND for cell in table.rows[0])
    if width == len(table.rows[0]):
        return table
    texts = [cell.text for row in table.rows[1:] for cell in row[width:] if cell.text]
    if texts:
        notes.append(
            "Not imported, since GitHub hides cells beyond the heading; add headings to import "
            f"them: {shorten(texts)}."
        )
    return replace(table, rows=[row[:width] for row in table.rows])


def _kinds_of_columns(
    table: SourceTable,
    head: int,
    body: Sequence[int],
    parts: Mapping[tuple[int, int], list[Part] | None],
    notes: list[str],
) -> tuple[list[int], list[int]]:
    """Columns of text and columns of values; texts across columns and rows of words decide none."""
    texts: list[int] = []
    numbers: list[int] = []
    empty: list[str] = []
    columns = range(len(table.rows[0]))
    is_number = {position: bool(cell) and is_numeric(cell[0]) for position, cell in parts.items()}
    deciding = [row for row in body if any(is_number[row, column] for column in columns)]
    for column in columns:
        if repeats_column(table, column):
            continue
        label = label_of_column(table, head, column)
        cells = [parts[row, column] for row in body]
        if not any(cell != [] for cell in cells) or (texts and all(map(_is_empty, cells))):
            # Blank columns below a heading across columns, or without one, only separate others.
            if any(
                table.rows[row][column].text and not spans_columns(table, row, column)
                for row in range(head)
            ):
                empty.append(label)
            continue
        unread = sum(
            parts[row, column] is None and not spans_columns(table, row, column) for row in deciding
        )
        numeric = [cell[0] for cell in cells if cell and is_numeric(cell[0])]
        has_times = any(is_time(table.rows[row][column].text) for row in body)
        is_of_times = has_times and all(map(is_duration, numeric))
        is_key = column < table.keys or column in table.names
        is_value = (len(numeric) > unread and not is_of_times and not is_key) or (
            len(numeric) > 0 and is_measure(label)
        )
        # The first column names the rows, even by years or sizes, and so do known keys; measures
        # may stand before a column that the user chose.
        is_first = not texts and not (table.names and (is_measure(label) or is_score(label)))
        (numbers if is_value and not is_first and not is_key else texts).append(column)
    if table.names and not numbers:
        # Only the first column has numbers.
        numbers = [
            column
            for column in texts[:1]
            if column not in table.names and any(is_number[row, column] for row in body)
        ]
        texts = [column for column in texts if column not in numbers]
    if empty:
        notes.append(f"Not imported, since it is empty: {shorten(empty)}.")
    return texts, numbers


def _is_empty(cell: list[Part] | None) -> bool:
    return cell is not None and all(part.text == "–" for part in cell)


def _deviations(
    table: SourceTable,
    head: int,
    body: Sequence[int],
    numbers: Sequence[int],
    parts: dict[tuple[int, int], list[Part] | None],
    notes: list[str],
) -> dict[int, int]:
    """Columns of deviations of cells with one number, and those of their values; notes on them."""
    single = {
        column for column in numbers if all(len(parts[row, column] or ()) < 2 for row in body)
    }
    deviations = {
        column: value
        for column, value in deviations_of_columns(table, head, numbers).items()
        if {column, value} <= single
    }
    for position in ((row, column) for row in body for column in deviations):
        parts[position] = [part._replace(role=DEVIATION) for part in parts[position] or ()]
    if deviations:
        names = shorten(
            " of ".join(label_of_column(table, head, column) for column in pair)
            for pair in deviations.items()
        )
        notes.append(f"Read as deviations (±): {names}.")
    return deviations


def _by_position(
    table: SourceTable,
    numbers: Sequence[int],
    body: Sequence[int],
    parts: Mapping[tuple[int, int], list[Part] | None],
) -> dict[Position, Part]:
    """Parts of all cells row by row, after their columns told units from letters."""
    values = {
        Position(row, column, part.role): part
        for row in body
        for column in numbers
        for part in parts[row, column] or []
    }
    columns: dict[tuple[int, str], dict[Position, Part]] = {}
    for position, part in values.items():
        columns.setdefault((position.column, position.role), {})[position] = part
    for parts_of_column in columns.values():
        values.update(resolve_letters(parts_of_column))
    return values


def _emphasis(cell: SourceCell) -> str:
    return ", ".join([BOLD] * cell.bold + [UNDERLINED] * cell.underlined)


def _split_sign(part: Part) -> tuple[str, str]:
    """Sign of a bound, if it is one, and the number."""
    return (part.text[:2], part.text[2:]) if part.text[0] in "<>≤≥" else ("", part.text)


def _plain_values(
    path: object,
    table: SourceTable,
    head: int,
    values: Mapping[Position, Part],
    row_keys: Mapping[int, Sequence[str]],
    notes: list[str],
) -> dict[Position, str]:
    """Values with plain digits, by position; and notes on what commas mean."""
    columns: dict[tuple[int, str], Column] = {}
    for position, part in values.items():
        label = f"{label_of_column(table, head, position.column)} {position.role}".strip()
        column = columns.setdefault((position.column, position.role), Column(label))
        if is_numeric(part):
            where = f"row {position.row + 1} of the table ({' / '.join(row_keys[position.row])})"
            column.numbers[where] = _split_sign(part)[1]
    names = [column.name for column in columns.values()]
    for (index, _), column in columns.items():
        if names.count(column.name) > 1:
            column.name = f"{column.name} (column {index + 1})"
    decided, comments = decide_commas(path, list(columns.values()))
    notes += comments
    plain = {}
    for position, part in values.items():
        sign, number = _split_sign(part)
        comma = decided[columns[position.column, position.role].name]
        plain[position] = sign + plain_number(number, comma) if is_numeric(part) else part.text
    return plain
