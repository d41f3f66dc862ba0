"""Imported values below their source, for the terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table

from everycell.cli.importing.rows import is_group, is_spanning, name_of
from everycell.cli.importing.tidy import Imported
from everycell.cli.printing import echo, output_console, pluralise
from everycell.records.cells import is_number, key_columns
from everycell.records.spellings import split_bound


def print_imported(imported: Imported) -> None:
    """Print each row as it is written in the file, with the values read from it below."""
    rows = imported.table.rows
    read: dict[tuple[int, int], list[str]] = {}
    for position, content in zip(
        imported.positions, imported.cells.to_dict("records"), strict=True
    ):
        details = [content[name] for name in ("unit", "marker", "note") if content.get(name)]
        text = content["value"] + (f" ({', '.join(details)})" if details else "")
        text = f"{position.role}: {text}" if position.role else text
        read.setdefault((position.row, position.column), []).append(text)
    columns = [*imported.labels, *sorted({position.column for position in imported.positions})]
    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in ["", *columns]:
        table.add_column(overflow="fold")
    for index, row in enumerate(rows):
        if index < imported.head:
            table.add_row("", *(row[column].text for column in columns), style="bold")
        elif any((index, column) in read for column in columns):
            table.add_row("source", *(row[column].source for column in columns), style="dim")
            labels = {column: [row[column].text] for column in imported.labels}
            values = [read.get((index, column), labels.get(column, [])) for column in columns]
            table.add_row("read", *(Group(*lines) for lines in values))
        elif is_group(row) or not is_spanning(row):
            table.add_row("", name_of(imported.table, index), style="italic")
    console = output_console()
    console.print(table)
    values = imported.cells["value"]
    numbers, bounds = (sum(map(test, values)) for test in (is_number, _is_bound))
    words = len(values) - numbers - bounds
    counts = {"number": numbers, "bound": bounds}
    kinds = [pluralise(number, kind) for kind, number in counts.items() if number]
    kinds += [f"{pluralise(words, 'cell')} without a number"] * bool(words)
    echo("")
    echo(f"Read {', '.join(kinds)}. Keys: {', '.join(key_columns(imported.cells))}.")


def _is_bound(value: str) -> bool:
    return bool(split_bound(value)[0])
