"""Tables with a row per value, as lm-evaluation-harness prints them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.headings import label_of_column
from everycell.cli.importing.values import SourceCell, split_cell

_MEASURE = re.compile(r"metrics?|measures?", re.IGNORECASE)


def one_value_per_row(table: SourceTable, head: int, notes: list[str]) -> SourceTable:
    """Keep the names and the value of each row, if a table has columns `Metric` and `Value`.

    A column of ± joins the value and its deviation. Other numbers, such as the version of a task,
    are settings.
    """
    labels = [label_of_column(table, head, column) for column in range(len(table.rows[0]))]
    values = [column for column, label in enumerate(labels) if label.lower() == "value"]
    measures = [column for column, label in enumerate(labels) if _MEASURE.fullmatch(label)]
    if table.keys or len(values) != 1 or not measures:
        return table
    (value,) = values
    body = table.rows[head:]
    deviation = value + 2 if _signs(body, value + 1) == {"±"} and value + 2 < len(labels) else None
    joined = {value + 1, value + 2} if deviation else set()
    settings = {
        column
        for column in range(len(labels))
        if column not in {value, *measures, *joined}
        and (_is_setting(body, column) if column else labels[0] == "column 1")
    }
    if left_out := [
        labels[column] for column in sorted(settings) if _signs(body, column) - {"↑", "↓"}
    ]:
        notes.append(f"Not imported, since these are not values: {', '.join(left_out)}.")
    columns = [column for column in range(len(labels)) if column not in settings | joined]
    rows = [[row[column] for column in columns] for row in table.rows]
    if deviation:
        for row, source in zip(rows[head:], body, strict=True):
            row[columns.index(value)] = _with_deviation(source[value], source[deviation])
    return SourceTable(rows, table.head, table.caption, keys=columns.index(value))


def _signs(body: Sequence[Sequence[SourceCell]], column: int) -> set[str]:
    """Texts in a column, without blank ones."""
    if not body or column >= len(body[0]):
        return set()
    return {row[column].text for row in body} - {""}


def _is_setting(body: Sequence[Sequence[SourceCell]], column: int) -> bool:
    """Whether a column has only numbers, arrows or blank cells, or one name for all rows."""
    cells = [row[column] for row in body if row[column].text not in ("", "↑", "↓")]
    return all(map(split_cell, cells)) or len(_signs(body, column)) == 1


def _with_deviation(cell: SourceCell, deviation: SourceCell) -> SourceCell:
    if not (cell.text and deviation.text) or deviation.text == "N/A":
        return cell
    text, source = (f"{getattr(cell, n)} ± {getattr(deviation, n)}" for n in ("text", "source"))
    return SourceCell(text, cell.raised, cell.bold, cell.underlined, source)
