"""Imported values below their source, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table

from everycell.cli.importing.rows import is_group, is_spanning, name_of
from everycell.cli.importing.tidy import Imported
from everycell.cli.printing import echo, output_console, pluralise
from everycell.records.cells import is_number, key_columns
from everycell.records.spellings import split_bound

#: Largest width of a column; longer texts are wrapped.
_WIDEST = 36


def print_imported(imported: Imported) -> None:
    """Print each row as it is written in the file, with the values read from it below.

    A table that is wider than the terminal is printed in blocks of columns.
    """
    read: dict[tuple[int, int], list[str]] = {}
    for position, content in zip(
        imported.positions, imported.cells.to_dict("records"), strict=True
    ):
        details = [content[name] for name in ("unit", "marker", "note") if content.get(name)]
        text = content["value"] + (f" ({', '.join(details)})" if details else "")
        text = f"{position.role}: {text}" if position.role else text
        read.setdefault((position.row, position.column), []).append(text)
    console = output_console()
    for number, columns in enumerate(_blocks(imported, read, console.width)):
        if number:
            console.print()
        console.print(_preview(imported, read, columns))
    values = imported.cells["value"]
    numbers, bounds = (sum(map(test, values)) for test in (is_number, _is_bound))
    words = len(values) - numbers - bounds
    counts = {"number": numbers, "bound": bounds}
    kinds = [pluralise(number, kind) for kind, number in counts.items() if number]
    kinds += [f"{pluralise(words, 'cell')} without a number"] * bool(words)
    echo("")
    echo(f"Read {', '.join(kinds)}. Keys: {', '.join(key_columns(imported.cells))}.")


def _blocks(
    imported: Imported, read: Mapping[tuple[int, int], Sequence[str]], width: int
) -> Iterator[dict[int, int]]:
    """Widths of the columns of each block: those that name the rows, and as many others as fit."""
    rows = imported.table.rows
    #: Width of the first column, which says `source` or `read`, with its distance.
    left = width - len("source  ")
    lines: dict[int, list[str]] = {column: [] for column in imported.labels}
    for (row, column), values in sorted(read.items(), key=lambda item: item[0][1]):
        lines.setdefault(column, []).extend([rows[row][column].source, *values])
    for row in {row for row, _ in read}:
        for column in imported.labels:
            lines[column].append(rows[row][column].source)
    for column, texts in lines.items():
        texts += (row[column].text for row in rows[: imported.head])
    widths = {column: max(1, *map(cell_len, texts)) for column, texts in lines.items()}
    labels = {column: min(widths[column], _WIDEST) for column in imported.labels}
    while sum(labels.values()) > 2 * left // 3 and max(labels.values()) > 1:
        labels[max(labels, key=labels.__getitem__)] -= 1
    #: A column that has a block of its own.
    widest = min(_WIDEST, max(1, left - sum(labels.values()) - 2 * len(labels)))
    block = dict(labels)
    for column in (column for column in widths if column not in labels):
        needed = min(widths[column], widest)
        if len(block) > len(labels) and sum(block.values()) + 2 * len(block) + needed > left:
            yield block
            block = dict(labels)
        block[column] = needed
    yield block


def _preview(
    imported: Imported, read: Mapping[tuple[int, int], Sequence[str]], columns: Mapping[int, int]
) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for width in [None, *columns.values()]:
        table.add_column(overflow="fold", width=width)
    rows_read = {row for row, _ in read}
    for index, row in enumerate(imported.table.rows):
        if index < imported.head:
            table.add_row("", *(row[column].text for column in columns), style="bold")
        elif index in rows_read:
            table.add_row("source", *(row[column].source for column in columns), style="dim")
            labels = {column: [row[column].text] for column in imported.labels}
            values = [read.get((index, column), labels.get(column, [])) for column in columns]
            table.add_row("read", *(Group(*lines) for lines in values))
        elif is_group(row) or not is_spanning(row):
            table.add_row("", name_of(imported.table, index), style="italic")
    return table


def _is_bound(value: str) -> bool:
    return bool(split_bound(value)[0])
