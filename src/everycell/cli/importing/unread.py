"""Cells in columns of numbers that are no numbers of their own: words, and cells across columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from everycell.base.errors import DataError
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.headings import label_of_column
from everycell.cli.importing.rows import name_of, shorten, spans_columns
from everycell.cli.importing.values import (
    READABLE,
    Part,
    begins_with_number,
    is_numeric,
    is_time,
)


def replace_words(
    table: SourceTable,
    head: int,
    body: Sequence[int],
    numbers: Sequence[int],
    parts: dict[tuple[int, int], list[Part] | None],
    notes: list[str],
) -> None:
    """Read words such as "(baseline)" as –, in rows and columns with more numbers than words."""
    words = []
    for column in numbers:
        of_column = [
            row for row in body if _is_word(table, row, column) and parts[row, column] is None
        ]
        if len(of_column) < sum(_has_number(parts[row, column]) for row in body):
            words += [(row, column) for row in of_column]
    with_numbers = {row for row in body if any(_has_number(parts[row, c]) for c in numbers)}
    words = sorted(position for position in words if position[0] in with_numbers)
    for position in words:
        parts[position] = [Part("", "–")]
    if words:
        cells = shorten(
            f"row {row + 1} {label_of_column(table, head, column)} '{table.rows[row][column].text}'"
            for row, column in words
        )
        notes.append(f"Read as –, since they are words in columns of numbers: {cells}.")


def _has_number(cell: list[Part] | None) -> bool:
    return bool(cell) and is_numeric(cell[0])


def _is_word(table: SourceTable, row: int, column: int) -> bool:
    """Whether a cell of its own has letters and nothing that may stand for a number."""
    cell = table.rows[row][column]
    may_be_number = cell.unknown or any(map(str.isnumeric, cell.text + cell.raised))
    is_name = re.search(r"[^\W\d_]{2}", cell.text) and not begins_with_number(cell.text)
    return bool(is_name) and not (may_be_number or spans_columns(table, row, column))


def check_unread(
    path: object,
    table: SourceTable,
    head: int,
    body: Sequence[int],
    numbers: Sequence[int],
    parts: Mapping[tuple[int, int], list[Part] | None],
    notes: list[str],
) -> list[int]:
    """Rows with values; others, and texts across columns, are noted, and other texts refused."""
    words = {row: [column for column in numbers if parts[row, column] is None] for row in body}
    with_values = []
    for row, columns in words.items():
        texts = [table.rows[row][column].text for column in columns]
        cells = [parts[row, column] for column in numbers]
        has_value = any(bool(cell) and is_numeric(cell[0]) for cell in cells)
        is_value = any(begins_with_number(text) or is_time(text) for text in texts)
        if not texts or has_value or is_value:
            with_values.append(row)
    if left_out := [name_of(table, row) for row in body if row not in with_values]:
        notes.append(f"Not imported, since they are rows without numbers: {shorten(left_out)}.")
    across = []
    for row in with_values:
        for column in words[row]:
            cell = table.rows[row][column]
            if spans_columns(table, row, column) and not begins_with_number(cell.text):
                across.append(cell.text)
                continue
            raise DataError(
                path,
                f"row {row + 1} of the table",
                label_of_column(table, head, column),
                cell.text,
                expected=READABLE,
                fix="write several numbers in columns of their own, and marks as † or raised",
            )
    if across:
        texts = shorten(dict.fromkeys(across))
        notes.append(f"Not imported, since it is text across columns of numbers: {texts}.")
    return with_values


def without_numbers_across(
    table: SourceTable,
    body: Sequence[int],
    numbers: Sequence[int],
    parts: dict[tuple[int, int], list[Part] | None],
    notes: list[str],
) -> list[int]:
    """Leave out a number that is printed once across columns of numbers: it is no value of each."""
    across, rows = [], set()
    for row in body:
        cells = {column: table.rows[row][column] for column in numbers}
        for column, cell in cells.items():
            part = parts[row, column]
            is_across = sum(other is cell for other in cells.values()) > 1
            if is_across and part and is_numeric(part[0]):
                parts[row, column] = []
                across.append(f"{name_of(table, row)} {cell.text}")
                rows.add(row)
    if across:
        names = shorten(dict.fromkeys(across))
        notes.append(f"Not imported, since it is one number across columns of numbers: {names}.")
    return [row for row in body if row not in rows or any(parts[row, column] for column in numbers)]
