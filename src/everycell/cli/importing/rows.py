"""Rows of a published table that have no values: headings of groups, notes and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everycell.base.errors import DataError
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.values import SourceCell, split_cell

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


def _text_of(row: Sequence[SourceCell]) -> str:
    return next(cell.text for cell in row if cell.text)


def spans_columns(table: SourceTable, row: int, column: int) -> bool:
    """Whether a cell is also that of a column beside it."""
    cells = table.rows[row]
    beside = cells[max(column - 1, 0) : column] + cells[column + 1 : column + 2]
    return any(cell is cells[column] for cell in beside)


def name_of(table: SourceTable, row: int) -> str:
    """Text that tells a row from more: its first one."""
    return _text_of(table.rows[row])


def refuse_second_heading(
    path: object, table: SourceTable, head: int, row: int, columns: Sequence[int]
) -> None:
    """Refuse a row that names measures other than the heading: it begins another table."""
    for column in columns:
        text = table.rows[row][column].text
        if is_measure(text) and text not in {above[column].text for above in table.rows[:head]}:
            raise DataError(
                path,
                f"row {row + 1} of the table",
                fault=f"is another heading, with {text}",
                fix="make two tables of it",
            )


def is_measure(name: str) -> bool:
    """Whether a heading is a measure that `init` can compute from runs."""
    from everycell.cli.measure_names import measure_of

    return measure_of(name) is not None


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
