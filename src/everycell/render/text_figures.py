"""Figures of text: prompts, dialogues and answers, in panels of headed parts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextToPath

from everycell.render.figure_files import style
from everycell.render.figures import rows_by
from everycell.render.palette import GRID_LINES, INK

#: Size of the text in points; height of a line, space around a part and margins in inches.
_SIZE, _LINE, _SPACE, _MARGIN = 8, 0.155, 0.07, 0.12
#: Share of a panel's width from which headings are wrapped between words.
_HEADINGS = 0.3
#: Share of the space for text that lines fill, since hinted letters of a PNG are up to 4 % wider.
_FILLED = 0.95
_BOLD = {"weight": "bold"}


def text_figure(
    frame: pd.DataFrame,
    *,
    panel: str | None = None,
    heading: str = "part",
    text: str = "text",
    monospace: bool = False,
    columns: int = 1,
    width: float = 7.0,
) -> Figure:
    """Text in panels: each row of the frame is a part, with its heading on the left.

    A part is a message of a prompt (heading: its role), an utterance (its speaker) or an answer
    (its model); `panel`, `heading` and `text` are the names of the columns. Line breaks of a text
    are kept, and its lines are wrapped to the panel. `monospace` is for prompts. `width` is that of
    the figure in inches; its height follows from the text.
    """
    if frame.empty:
        raise ValueError("there is nothing to show: the table has no rows.")
    panels = rows_by(frame, panel)
    columns = min(columns, len(panels))
    panel_width = (width - _MARGIN * (columns + 1)) / columns
    font = {"family": ["monospace" if monospace else "sans-serif"]}
    with style():
        headings = frame[heading].astype(str)
        widest, word = (
            max(_width(name, _BOLD) for name in names)
            for names in (headings, " ".join(headings).split(" "))
        )
        heading_width = max(word, min(widest, _HEADINGS * panel_width))
        left = heading_width + 2 * _SPACE
        # Lines of heading and text of each part.
        parts_by_panel = {
            name: [
                (
                    list(_wrap(str(part), heading_width, _BOLD)),
                    list(_wrap(str(content), _FILLED * (panel_width - left), font)),
                )
                for part, content in zip(rows[heading], rows[text], strict=True)
            ]
            for name, rows in panels.items()
        }
        heights = {
            name: sum(map(_part_height, parts)) + (_LINE + _SPACE) * bool(name)
            for name, parts in parts_by_panel.items()
        }
        names = list(panels)
        grid = [names[start : start + columns] for start in range(0, len(names), columns)]
        row_heights = [max(heights[name] for name in row) for row in grid]
        top = sum(row_heights) + _MARGIN * (len(grid) + 1)
        figure = Figure(figsize=(width, top))
        inches = figure.dpi_scale_trans
        add_text = partial(figure.text, transform=inches, va="top", size=_SIZE, color=INK)
        top -= _MARGIN
        for row, row_height in zip(grid, row_heights, strict=True):
            for column, name in enumerate(row):
                x, y = _MARGIN + column * (panel_width + _MARGIN), top
                if name:
                    add_text(x, y, name, **_BOLD)
                    y -= _LINE + _SPACE
                for part in parts_by_panel[name]:
                    figure.add_artist(
                        Line2D(
                            [x, x + panel_width],
                            [y, y],
                            transform=inches,
                            color=GRID_LINES,
                            linewidth=0.8,
                        )
                    )
                    for start, style_of_lines, lines in zip(
                        (x, x + left), (_BOLD, font), part, strict=True
                    ):
                        for number, line in enumerate(lines):
                            add_text(start, y - _SPACE - number * _LINE, line, **style_of_lines)
                    y -= _part_height(part)
            top -= row_height + _MARGIN
    return figure


def _part_height(part: tuple[list[str], list[str]]) -> float:
    return max(map(len, part)) * _LINE + 2 * _SPACE


def _width(text: str, font: dict[str, Any]) -> float:
    """Width of a text in inches."""
    properties = FontProperties(size=_SIZE, **font)
    points = TextToPath().get_text_width_height_descent(text, properties, ismath=False)[0]
    return points / 72


def _wrap(text: str, width: float, font: dict[str, Any]) -> Iterator[str]:
    """Wrap the lines of a text between words, and words that are too long between letters."""
    for line in text.split("\n"):
        current = ""
        for word in line.split(" "):
            candidate = f"{current} {word}" if current else word
            if _width(candidate, font) <= width:
                current = candidate
                continue
            if current:
                yield current
            while _width(word, font) > width and len(word) > 1:
                fits = [_width(word[:end], font) <= width for end in range(1, len(word))]
                length = max(1, sum(fits))
                yield word[:length]
                word = word[length:]
            current = word
        yield current
