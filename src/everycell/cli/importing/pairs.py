"""Columns whose cells have several values, such as "65.3 / 72.4" below "Dev / Test"."""

from __future__ import annotations

import re
from dataclasses import replace

from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.headings import is_collection_heading, is_measure_heading
from everycell.cli.importing.rows import is_spanning
from everycell.cli.importing.values import SourceCell, split_cell

_TASK_AND_MEASURE = re.compile(r"([^/()]+)(?:/([^/()]+)|\(([^()]+)\))")


def split_columns(table: SourceTable, head: int, notes: list[str]) -> SourceTable:
    """Split columns whose heading and cells have the same number of parts between slashes."""
    widths = {
        column: len(names)
        for column in range(1, len(table.rows[0]))
        if column not in table.names
        and (names := _names(table.rows[head - 1][column].text))
        and _has_parts(table, head, column, len(names))
    }
    if not widths:
        return table
    if any(
        cell.bold or cell.underlined
        for row in table.rows[head:]
        for column, cell in enumerate(row)
        if column in widths
    ):
        notes.append("Not imported: bold and underline in cells with several values.")
    rows = []
    for index, row in enumerate(table.rows):
        cells = []
        for column, cell in enumerate(row):
            width = widths.get(column, 1)
            texts = _names(cell.text) if index == head - 1 else _parts(cell, width)
            if width > 1 and len(texts) == width:
                plain = replace(cell, bold=False, underlined=False)
                cells += [replace(plain, text=text, source=text) for text in texts]
            else:
                cells += [cell] * width
        rows.append(cells)
    names = tuple(sum(widths.get(left, 1) for left in range(column)) for column in table.names)
    return replace(table, rows=rows, names=names)


def split_row_names(table: SourceTable, head: int) -> SourceTable:
    """Split cells such as "arc_easy/acc" or "SQuAD (F1)" below "Task/Metric"."""
    headings = [re.split(r"[/()]", cell.text.rstrip(")")) for cell in table.rows[head - 1]]
    column, names = next(
        (
            (column, names)
            for column, names in enumerate(headings)
            if len(names) == 2 and is_collection_heading(names[0]) and is_measure_heading(names[1])
        ),
        (0, []),
    )
    if not names:
        return table
    rows = []
    for index, row in enumerate(table.rows):
        cell = row[column]
        match = _TASK_AND_MEASURE.fullmatch(cell.text)
        if index < head - 1 or is_spanning(row):
            cells = [cell, cell]
        elif index == head - 1:
            cells = [replace(cell, text=name.strip(), source=name) for name in names]
        else:
            texts = [text for text in match.groups() if text] if match else [cell.text, "–"]
            cells = [replace(cell, text=text, source=text) for text in texts]
        rows.append([*row[:column], *cells, *row[column + 1 :]])
    if not table.names:
        return replace(table, rows=rows, keys=column + 2)
    columns = [name + (name > column) for name in table.names if name != column]
    return replace(table, rows=rows, names=(*columns, column, column + 1))


def _names(heading: str) -> list[str]:
    """Parts of a heading: "R@1/5" is R@1 and R@5, and "Test EM/F1" is Test EM and Test F1."""
    before, after = "", ""
    if match := re.fullmatch(r"([^()]*\()([^()]*)(\)[^()]*)", heading):
        before, heading, after = match.groups()
    names = [name.strip() for name in heading.split("/")]
    *prefix, last = names[0].rsplit(maxsplit=1) or [""]
    if prefix and " " not in heading[len(names[0]) :]:
        before, names[0] = f"{before}{prefix[0]} ", last
    if stem := re.match(r".*@(?=\d)", names[0]):
        names = [f"{stem[0]}{name}" if name.isdigit() else name for name in names]
    return [f"{before}{name}{after}" for name in names] if len(names) > 1 and all(names) else []


def _parts(cell: SourceCell, width: int) -> list[str]:
    parts = [text.strip() for text in cell.text.split("/")]
    return parts if width > 1 and len(parts) == width and all(parts) else []


def _has_parts(table: SourceTable, head: int, column: int, width: int) -> bool:
    """Whether all cells have so many values, or are dashes, words or blank; at least one has."""
    cells = [row[column] for row in table.rows[head:]]
    split = [
        bool(texts) and all(split_cell(SourceCell(text)) for text in texts)
        for texts in (_parts(cell, width) for cell in cells)
    ]
    return any(split) and all(
        is_split or not re.search(r"\d", cell.text)
        for is_split, cell in zip(split, cells, strict=True)
    )
