"""Columns whose cells have several values, such as "65.3 / 72.4" below "Dev / Test"."""

from __future__ import annotations

import re
from dataclasses import replace

from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.values import SourceCell, split_cell


def split_columns(table: SourceTable, head: int, notes: list[str]) -> SourceTable:
    """Split columns whose heading and cells have the same number of parts between slashes."""
    widths = {
        column: len(names)
        for column in range(1, len(table.rows[0]))
        if (names := _names(table.rows[head - 1][column].text))
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
    return SourceTable(rows, table.head, table.caption, table.keys)


def _names(heading: str) -> list[str]:
    """Parts of a heading; "R@1/5" is R@1 and R@5."""
    names = [name.strip() for name in heading.split("/")]
    stem = re.match(r"(.*@)\d+", names[0])
    if stem:
        names = [f"{stem[1]}{name}" if name.isdigit() else name for name in names]
    return names if len(names) > 1 and all(names) else []


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
