"""Rows of a published table that have no values: headings of groups, notes and words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from everycell.base.errors import DataError
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.values import SourceCell, begins_with_number, is_mark, split_cell

#: Longest heading of a group, in characters; a longer text is a note, such as a command.
_LONGEST_HEADING = 200
#: Numbers of names, and characters of each, that a line for the user has.
_NAMES, _LONGEST_NAME = 5, 60


def is_spanning(row: Sequence[SourceCell]) -> bool:
    """Whether a row has one text, across columns or in the first of them, and no values."""
    texts = [cell.text for cell in row if cell.text]
    if len(set(texts)) != 1 or (len(texts) == 1 and not row[0].text):
        return False
    return not any(split_cell(cell) for cell in row)


def is_group(row: Sequence[SourceCell]) -> bool:
    """Whether a row is one heading for the rows below it."""
    return is_spanning(row) and len(_text_of(row)) <= _LONGEST_HEADING


def count_titles(rows: Sequence[Sequence[SourceCell]]) -> int:
    """First rows that are titles of the table, with the heading below; 0 without a title.

    A title is one text, in all columns or alone. The heading has words, also in columns that no
    text alone names.
    """
    texts = [[cell.text for cell in row] for row in rows]
    titles = 0
    while titles < len(rows) - 2 and _is_title(rows[titles]):
        titles += 1
    names = {text for text in texts[titles] if text}
    is_heading = any(map(str.isalpha, "".join(names))) and not any(
        split_cell(cell) or begins_with_number(cell.text) or is_mark(cell.text)
        for cell in rows[titles]
    )
    alone = [title for title in texts[:titles] if not all(title)]
    own = {column for title in alone for column, text in enumerate(title) if text}
    labels = {column for column, text in enumerate(texts[titles]) if text}
    is_needed = bool(labels - own - {0})
    return titles + 1 if titles and is_heading and len(names) > 1 and is_needed else 0


def _is_title(row: Sequence[SourceCell]) -> bool:
    """Whether a row has one text and no number, in all columns or alone."""
    texts = [cell.text for cell in row if cell.text]
    is_one = len(set(texts)) == 1 and len(texts) in (1, len(row))
    return is_one and not any(map(split_cell, row))


def _text_of(row: Sequence[SourceCell]) -> str:
    return next(cell.text for cell in row if cell.text)


def spans_columns(table: SourceTable, row: int, column: int) -> bool:
    """Whether a cell is also that of a column beside it."""
    cells = table.rows[row]
    beside = cells[max(column - 1, 0) : column] + cells[column + 1 : column + 2]
    return any(cell is cells[column] for cell in beside)


def repeats_column(table: SourceTable, column: int) -> bool:
    """Whether a column is that before it: one column of the page, which spans two of the source."""
    return column > 0 and all(row[column] is row[column - 1] for row in table.rows)


def name_of(table: SourceTable, row: int) -> str:
    """Text that tells a row from more: its first one."""
    return _text_of(table.rows[row])


def repeats_heading(table: SourceTable, head: int, row: int) -> bool:
    """Whether a row has the texts of the heading."""
    columns = range(len(table.rows[row]))
    return all(table.rows[row][column].text in _labels(table, head, column) for column in columns)


def refuse_second_heading(
    path: object,
    table: SourceTable,
    head: int,
    row: int,
    texts: Sequence[int],
    numbers: Sequence[int],
) -> None:
    """Refuse a row that names other columns than the heading: it begins another table.

    It has measures, the label of the first column, or bold words like the heading; or no name of
    its own, and words in all columns of numbers.
    """
    cells = table.rows[row]
    names = [
        cells[column].text
        for column in numbers
        if cells[column].text and cells[column].text not in _labels(table, head, column)
    ]
    words = [column for column in numbers if split_cell(cells[column]) is None]
    corner = cells[texts[0]].text if texts else ""
    is_named = bool(corner) and corner in _labels(table, head, texts[0]) and not is_measure(corner)
    is_bold = len(words) > 1 and _is_bold(cells) and _is_bold(table.rows[head - 1])
    is_unnamed = not any(cells[column].text for column in texts) and len(words) == len(numbers) > 1
    has_measure = len(words) > 0 and any(map(is_measure, names))
    if names and (is_named or is_bold or is_unnamed or has_measure):
        raise DataError(
            path,
            f"row {row + 1} of the table",
            fault=f"is another heading, with {shorten(names)}",
            fix="end the table above it and begin another one, which --number chooses",
        )


def _labels(table: SourceTable, head: int, column: int) -> set[str]:
    return {row[column].text for row in table.rows[:head]}


def _is_bold(row: Sequence[SourceCell]) -> bool:
    return all(cell.bold for cell in row if cell.text)


def is_measure(name: str) -> bool:
    """Whether a heading is a measure that `init` can compute from runs."""
    from everycell.cli.measure_names import measure_of

    return measure_of(name) is not None


def begins_with_measure(name: str) -> bool:
    """Whether a name is a measure, maybe with an explanation, as in "MAP (mean over topics)"."""
    return is_measure(re.split(r"[(\[:–—]", name)[0].strip())


def complete_additions(names: Sequence[str]) -> list[str]:
    """Names in which a repeated "+RM3" is "BM25 +RM3" behind BM25, and "QL +RM3" behind QL."""
    additions = [name for name in names if name.startswith("+")]
    if len(set(additions)) == len(additions):
        return list(names)
    completed, base = [], ""
    for name in names:
        is_addition = name.startswith("+")
        base = base if is_addition else name
        completed.append(f"{base} {name}".strip() if is_addition else name)
    return completed


def shorten(names: Iterable[str]) -> str:
    """First names of a list, each cut, and the number of further ones."""
    names = list(names)
    parts = [
        name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
        for name in names[:_NAMES]
    ]
    more = len(names) - len(parts)
    return ", ".join(parts) + (f" and {more} more" if more else "")
