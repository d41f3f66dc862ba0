"""Tables with a row per value, as lm-evaluation-harness and frames in tidy form have them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everycell.cli.importing.columns import STATISTICS
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.headings import (
    is_collection_heading,
    is_measure_heading,
    is_system_heading,
    label_of_column,
)
from everycell.cli.importing.values import SourceCell, is_numeric, split_cell
from everycell.records.cells import DESCRIPTION

#: Headings of values, the surest first.
_VALUES = ("value", "score", "result")
#: A decimal separator; a comma before three digits may separate thousands.
_DECIMALS = re.compile(r"\.|,(?!\d{3}\b)")


def one_value_per_row(table: SourceTable, head: int, notes: list[str]) -> SourceTable:
    """Keep the names and the value of each row, if a table has columns `Metric` and `Value`.

    A column of ± joins the value and its deviation. Other numbers, such as the version of a task,
    are settings, unless rows repeat without them.
    """
    labels = [label_of_column(table, head, column) for column in range(len(table.rows[0]))]
    lower = [label.lower() for label in labels]
    values = next(([lower.index(name)] for name in _VALUES if lower.count(name) == 1), [])
    measures = [column for column, label in enumerate(labels) if is_measure_heading(label)]
    if table.keys or table.names or not values or not measures:
        return table
    (value,) = values
    body, seeds = table.rows[head:], table.seeds[head:]
    deviation = value + 2 if _signs(body, value + 1) == {"±"} and value + 2 < len(labels) else None
    joined = {value, value + 1, value + 2} if deviation else {value}
    candidates = [column for column in range(len(labels)) if column not in joined]
    keys = [column for column in candidates if _is_key(body, labels, column, value)]
    names = [column for column in keys if column not in measures]
    if lower[value] != "value" and (not names or _are_unique(body, names, seeds)):
        # `Score` and `Baseline` may also be two columns of values.
        known = {*STATISTICS, *DESCRIPTION, "column 1"}
        unknown = [column for column in candidates if lower[column] not in known]
        if any(_has_decimals(body, column) for column in unknown):
            return table
    settings = [column for column in candidates if column not in keys]
    for column in [*settings]:
        if _are_unique(body, keys, seeds):
            break
        # Numbers of rows are unique, and say nothing.
        if labels[column] != "column 1" and lower[column] not in DESCRIPTION:
            keys.append(column)
            settings.remove(column)
    if left_out := [labels[column] for column in settings if _signs(body, column) - {"↑", "↓"}]:
        notes.append(f"Not imported, beside {labels[value]}: {', '.join(left_out)}.")
    columns = [*sorted(keys), value]
    rows = [[row[column] for column in columns] for row in table.rows]
    # A single heading that names no key.
    rows[head - 1][-1] = SourceCell("value", source=labels[value])
    if deviation:
        for row, source in zip(rows[head:], body, strict=True):
            row[-1] = _with_deviation(source[value], source[deviation])
    return SourceTable(rows, table.head, table.caption, keys=len(keys), seeds=table.seeds)


def _is_key(
    body: Sequence[Sequence[SourceCell]], labels: Sequence[str], column: int, value: int
) -> bool:
    """Whether a column names rows for sure; others do so only if rows repeat without them."""
    is_named = is_measure_heading(labels[column]) or (
        (is_system_heading(labels[column]) or is_collection_heading(labels[column]))
        and not all(split_cell(row[column]) for row in body)
    )
    is_first = column == 0 and labels[0] != "column 1"
    return is_named or (column < value and (is_first or not _is_setting(body, column)))


def _are_unique(
    body: Sequence[Sequence[SourceCell]], columns: Sequence[int], seeds: Sequence[str]
) -> bool:
    """Whether no two rows have the same names and seed; blank cells repeat those above."""
    rows: list[tuple[str, ...]] = []
    for row in body:
        above = rows[-1] if rows else ("",) * len(columns)
        rows.append(
            tuple(row[column].text or name for column, name in zip(columns, above, strict=True))
        )
    return len({*zip(rows, seeds or [""] * len(rows), strict=True)}) == len(rows)


def _signs(body: Sequence[Sequence[SourceCell]], column: int) -> set[str]:
    """Texts in a column, without blank ones."""
    if not body or column >= len(body[0]):
        return set()
    return {row[column].text for row in body} - {""}


def _is_setting(body: Sequence[Sequence[SourceCell]], column: int) -> bool:
    """Whether a column has only numbers, arrows or blank cells, or one name for all rows."""
    cells = [row[column] for row in body if row[column].text not in ("", "↑", "↓")]
    return all(map(split_cell, cells)) or len(_signs(body, column)) == 1


def _has_decimals(body: Sequence[Sequence[SourceCell]], column: int) -> bool:
    """Whether a column has a number with decimals."""
    cells = (split_cell(row[column]) for row in body)
    return any(cell and is_numeric(cell[0]) and _DECIMALS.search(cell[0].text) for cell in cells)


def _with_deviation(cell: SourceCell, deviation: SourceCell) -> SourceCell:
    if not (cell.text and deviation.text) or deviation.text == "N/A":
        return cell
    text, source = (f"{getattr(cell, n)} ± {getattr(deviation, n)}" for n in ("text", "source"))
    return SourceCell(text, cell.raised, cell.bold, cell.underlined, source)
