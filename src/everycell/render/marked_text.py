"""Figures of texts in which several people marked parts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from everycell.base.errors import DataError
from everycell.render.figure_files import HATCHES, style
from everycell.render.palette import COLOURS, INK

Span = tuple[int, int]
#: Letters per line.
_LETTERS = 96
#: Sizes in inches: a letter of 8 pt, a line, a mark and its distance from the next, the margin, and
#: the height of a heading.
_LETTER, _LINE, _MARK, _PITCH, _MARGIN, _HEADING = 0.0669, 0.17, 0.055, 0.08, 0.15, 0.3


@dataclass(frozen=True)
class MarkedText:
    """A text, and the spans that each person marked in it; `note` is printed below."""

    title: str
    text: str
    marks: Mapping[str, Sequence[Span]]
    note: str = ""


def marked_rows(texts: Sequence[MarkedText]) -> pd.DataFrame:
    """Marks of texts, with one row per mark; a person without marks has a row without a span."""
    rows = [
        (text.title, person, *span, text.text[slice(*span)])
        for text in texts
        for person, spans in text.marks.items()
        for span in (spans or [(0, 0)])
    ]
    return pd.DataFrame(rows, columns=["text", "person", "start", "end", "marked"])


def marked_texts(texts: Sequence[MarkedText]) -> Figure:
    """Texts one below the other, with a bar below each marked part, in the colour of the person."""
    people = list(dict.fromkeys(person for text in texts for person in text.marks))
    for text in texts:
        for person, spans in text.marks.items():
            for start, end in spans:
                if not 0 <= start < end <= len(text.text):
                    expected = f"a part of the {len(text.text)} letters"
                    raise DataError(None, person, "span", (start, end), expected=expected)
    lines = [list(_lines(text.text)) for text in texts]
    heights = [_height(text, part) for text, part in zip(texts, lines, strict=True)]
    width, height = _LETTERS * _LETTER + 2 * _MARGIN, sum(heights) + _MARGIN
    with style():
        figure = Figure(figsize=(width, height + _HEADING))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-_MARGIN, width - _MARGIN), ylim=(-height, _HEADING))
        axes.axis("off")
        styles = dict(zip(people, zip(cycle(COLOURS), cycle(HATCHES), strict=False), strict=False))
        top = 0.0
        for text, part, size in zip(texts, lines, heights, strict=True):
            _draw(axes, text, part, styles, top)
            top -= size
        handles = [
            Patch(facecolor=colour, hatch=hatch * 2, edgecolor="white", label=person)
            for person, (colour, hatch) in styles.items()
        ]
        figure.legend(handles=handles, loc="upper left", ncols=len(people), fontsize=8)
    return figure


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Start and letters of each line of a text."""
    end = 0
    for line in textwrap.wrap(text, _LETTERS, expand_tabs=False, replace_whitespace=False):
        for part in line.split("\n"):
            start = text.index(part, end)
            end = start + len(part)
            yield start, part


def _height(text: MarkedText, lines: list[tuple[int, str]]) -> float:
    bars = sum(len(_bars_of_line(text, start, line)) for start, line in lines)
    note = (text.note.count("\n") + 2) * _LINE * bool(text.note)
    return _HEADING + len(lines) * (_LINE + _MARK) + bars * _PITCH + note


def _bars_of_line(text: MarkedText, start: int, line: str) -> dict[str, list[Span]]:
    """Marked parts of a line, by person; people without marks in the line are left out."""
    bars = {
        person: [
            (max(first - start, 0), min(last - start, len(line)))
            for first, last in spans
            if first < start + len(line) and last > start
        ]
        for person, spans in text.marks.items()
    }
    return {person: spans for person, spans in bars.items() if spans}


def _draw(
    axes: Axes,
    text: MarkedText,
    lines: list[tuple[int, str]],
    styles: Mapping[str, tuple[str, str]],
    top: float,
) -> None:
    axes.text(0, top - _HEADING / 2, text.title, fontsize=9, weight="bold", va="center")
    y = top - _HEADING
    for start, line in lines:
        # Words have their own positions, since another font may have letters of another width.
        position = 0
        for word in line.split(" "):
            if word:
                corner = (position * _LETTER, y - _LINE / 2)
                axes.text(*corner, word, family="monospace", fontsize=8, va="center")
            position += len(word) + 1
        y -= _LINE
        for person, spans in _bars_of_line(text, start, line).items():
            colour, hatch = styles[person]
            look = {"facecolor": colour, "hatch": hatch * 2, "edgecolor": "white", "linewidth": 0}
            for first, last in spans:
                corner, width = (first * _LETTER, y - _MARK), (last - first) * _LETTER
                axes.add_patch(Rectangle(corner, width, _MARK, **look))
            y -= _PITCH
        y -= _MARK
    if text.note:
        axes.text(0, y - _LINE / 2, text.note, fontsize=8, va="top", color=INK)
