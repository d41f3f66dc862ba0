"""Tables in the terminal; wide ones are split between columns, never within a name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from everycell.render.grid import Grid, HeadCell

_GAP = 2
#: Maximum width of a cell.
_MAX_CELL_WIDTH = 48
#: Maximum width of a label column; longer labels are wrapped between words.
_MAX_LABEL_WIDTH = 36


def grid_lines(
    grid: Grid[Any], lines_of: Callable[[Any], Sequence[Text]], width: int
) -> Iterator[Text]:
    """Lines of a table; each part repeats its labels."""
    names = grid.names
    labels = [
        # A label that spans several rows is in the first of them.
        [""] * (len(names) - len(row)) + [cell.label for cell in row]
        for row in grid.label_cells
    ]
    cells = [
        [_folded(lines_of(cell)) if cell is not None else [] for cell in row] for row in grid.rows
    ]
    head = grid.head or [[HeadCell("", 1)]]
    widths = _widths(head, cells)
    spanned = [
        [number for number, cell in enumerate(row) for _ in range(cell.span)] for row in head
    ]
    # A label whose columns are split is repeated above each part.
    words = [
        max(
            _longest_word(row[of_column[column]].label)
            for row, of_column in zip(head, spanned, strict=True)
        )
        for column in range(len(widths))
    ]
    room = width - max(*widths, *words) - _GAP
    label_widths = _label_widths(list(zip(names, *labels, strict=True)), room)
    room = width - sum(label_widths) - _GAP * len(names)
    for number, columns in enumerate(_parts(spanned[0], widths, words, room)):
        if number:
            yield Text()
        yield from _head_lines(head, spanned, columns, widths, names, label_widths)
        for texts, values in zip(labels, cells, strict=True):
            columns_of_row = [
                _wrap_label(text, size) for text, size in zip(texts, label_widths, strict=True)
            ]
            yield from _row_lines(
                [*columns_of_row, *(values[column] for column in columns)],
                [*label_widths, *(widths[column] for column in columns)],
                len(names),
            )


def _folded(lines: Sequence[Text]) -> list[Text]:
    """Lines of a cell without a line that is wider than a column, such as an address."""
    console = Console()
    return [part for line in lines for part in line.wrap(console, _MAX_CELL_WIDTH, overflow="fold")]


def _label_widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths of the label columns, each at least as wide as its longest word."""
    widths = [min(_MAX_LABEL_WIDTH, max(map(len, column))) for column in columns]
    # The second line of a label is indented.
    words = [max(min(len(text), _longest_word(text) + 1) for text in column) for column in columns]
    while sum(widths) + _GAP * (len(widths) - 1) > room:
        wide = [number for number, size in enumerate(widths) if size > words[number]]
        if not wide:
            break
        widths[max(wide, key=widths.__getitem__)] -= 1
    return list(map(max, widths, words))


def _widths(
    head: Sequence[Sequence[HeadCell]], cells: Sequence[Sequence[Sequence[Text]]]
) -> list[int]:
    """Widths of the value columns, from their lines and from the longest word above them."""
    sizes = [
        max((line.cell_len for row in cells for line in row[column]), default=1)
        for column in range(len(cells[0]))
    ]
    for row in head:
        start = 0
        for label, span in row:
            word = _longest_word(label) - _GAP * (span - 1)
            for column in range(start, start + span):
                sizes[column] = max(sizes[column], -(-word // span))
            start += span
    return sizes


def _parts(
    groups: Sequence[int], widths: list[int], words: Sequence[int], room: int
) -> Iterator[list[int]]:
    """Columns of each part; a group of columns is split only if it is wider than a line.

    The columns of a split group are widened to the longest of the `words` above them.
    """

    def total_width(columns: Sequence[int]) -> int:
        return sum(widths[column] + _GAP for column in columns)

    part: list[int] = []
    for _, group in groupby(range(len(groups)), key=groups.__getitem__):
        columns = list(group)
        pieces = [columns]
        if total_width(columns) > room:
            pieces = [[column] for column in columns]
            for column in columns:
                widths[column] = max(widths[column], words[column])
        for piece in pieces:
            if part and total_width([*part, *piece]) > room:
                yield part
                part = []
            part = [*part, *piece]
    yield part


def _head_lines(
    head: Sequence[Sequence[HeadCell]],
    spanned: Sequence[Sequence[int]],
    columns: Sequence[int],
    widths: Sequence[int],
    names: Sequence[str],
    label_widths: Sequence[int],
) -> Iterator[Text]:
    """Header lines of a part, with a rule below each label that spans several columns."""
    for level, (row, numbers) in enumerate(zip(head, spanned, strict=True)):
        is_last = level == len(head) - 1
        texts = [
            _wrap_label(name if is_last else "", size)
            for name, size in zip(names, label_widths, strict=True)
        ]
        sizes, has_rule = list(label_widths), [False] * len(names)
        for number, group in groupby(columns, key=numbers.__getitem__):
            group_widths = [widths[column] for column in group]
            sizes.append(sum(group_widths) + _GAP * (len(group_widths) - 1))
            has_rule.append(len(group_widths) > 1 and bool(row[number].label))
            lines = _wrap(row[number].label, sizes[-1])
            texts.append(
                [Text(line.plain.center(sizes[-1])) for line in lines] if has_rule[-1] else lines
            )
        height = max(map(len, texts))
        texts = [[Text()] * (height - len(lines)) + lines for lines in texts]
        if any(has_rule) and not is_last:
            texts = [
                [*lines, Text("─" * size if rule else "")]
                for lines, size, rule in zip(texts, sizes, has_rule, strict=True)
            ]
        for line in _row_lines(texts, sizes, len(names)):
            line.stylize("bold")
            yield line


def _row_lines(
    texts: Sequence[Sequence[Text]], widths: Sequence[int], labels: int
) -> Iterator[Text]:
    """Lines of a row, with labels left-aligned and values right-aligned."""
    for number in range(max(map(len, texts))):
        line = Text()
        for column, (lines, width) in enumerate(zip(texts, widths, strict=True)):
            text = lines[number].copy() if number < len(lines) else Text()
            padding = " " * max(0, width - text.cell_len)
            line.append_text(Text(" " * _GAP * (column > 0)))
            line.append_text(text + padding if column < labels else Text(padding) + text)
        line.rstrip()
        yield line


def _longest_word(text: str) -> int:
    # Lines are wrapped between words and after hyphens.
    return max(map(len, re.findall(r"[^\s-]+-?", text)), default=0)


def _wrap(text: str, width: int, indent: str = "") -> list[Text]:
    lines = textwrap.wrap(text, max(1, width), subsequent_indent=indent)
    return [Text(line) for line in lines or [""]]


def _wrap_label(text: str, width: int) -> list[Text]:
    """Lines of a label, of which only the first begins at the margin."""
    return _wrap(text, width, " ")
