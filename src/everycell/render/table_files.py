"""Files of a tidy frame: CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from pandas.api.types import is_scalar
from tabulate import tabulate

from everycell.base.csv_files import csv_text
from everycell.base.files import write_atomically
from everycell.base.untrusted import escape_controls, on_one_line
from everycell.render.grid import (
    Cell,
    Decimals,
    Grid,
    labels_once,
    make_grid,
    show_value,
    shown_label,
)
from everycell.render.latex import latex_document, latex_table

#: Maximum length of a LaTeX table; the CSV file has all rows.
_MAX_PAGES = 3


def write_table(
    frame: pd.DataFrame,
    stem: Path,
    *,
    title: str,
    layout_rows: Sequence[str],
    layout_columns: Sequence[str],
    decimals: Decimals,
    names: Mapping[str, str] = {},
) -> list[Path]:
    r"""Write a tidy frame as ``stem.csv``, ``stem.md``, ``stem.tex`` and ``stem.html``."""
    _require_scalars(frame, stem)
    texts = _displayed_values(frame, "value", decimals)
    if {"low", "high"} <= set(frame.columns) - {*layout_rows, *layout_columns}:
        bounds = (_displayed_values(frame, name, decimals) for name in ("low", "high"))
        texts = [
            f"{value} ({low} to {high})" for value, low, high in zip(texts, *bounds, strict=True)
        ]
    marks = frame["marker"].fillna("") if "marker" in frame else [""] * len(frame)
    cells = [Cell(text, mark) for text, mark in zip(texts, marks, strict=True)]
    grid = make_grid(
        frame.assign(value=pd.Series(cells, frame.index, dtype=object)),
        layout_rows,
        layout_columns,
        names,
    )
    if not layout_columns:
        grid = replace(grid, columns=[(str(shown_label(None, "value", names)),)])
    label = f"tab:{stem.parent.name}-{stem.name}".replace("_", "-")
    html = html_environment("everycell.render").get_template("table.html.j2")
    contents = {
        ".csv": csv_text(frame),
        ".md": table_as_markdown(grid, title),
        ".tex": latex_document(latex_table(grid, title, label, max_pages=_MAX_PAGES)),
        ".html": html.render(title=title, grid=grid),
    }
    return [
        write_atomically(stem.with_name(stem.name + suffix), content)
        for suffix, content in contents.items()
    ]


def _require_scalars(frame: pd.DataFrame, stem: Path) -> None:
    """Refuse cells such as lists, arrays and frames, which no published value can equal."""
    for column in frame.columns:
        for row, cell in enumerate(frame[column]):
            if not is_scalar(cell):
                raise ValueError(
                    f"{stem.name}, row {row + 1}: the column {column!r} has a "
                    f"{type(cell).__name__}, expected a number or a text; write one row per value."
                )


def _displayed_values(frame: pd.DataFrame, column: str, decimals: Decimals) -> list[str]:
    metrics: Sequence[Hashable] = frame["metric"] if "metric" in frame else [None] * len(frame)
    return [
        show_value(value, decimals.get(str(metric), decimals.get("all")))
        for value, metric in zip(frame[column], metrics, strict=True)
    ]


def table_as_markdown(grid: Grid[Cell], title: str) -> str:
    """Title and pipe table of a grid, with superscript marks after its values."""
    # Pipe tables have one header row, so the headings of a column are joined.
    header = [*grid.names, *(" · ".join(filter(None, column)) for column in grid.columns)]
    rows = [
        [*map(escape_markdown, labels), *(_markdown_cell(cell or Cell()) for cell in row)]
        for labels, row in zip(labels_once(grid.labels), grid.rows, strict=True)
    ]
    text = tabulate(rows, [escape_markdown(name) for name in header], "pipe", disable_numparse=True)
    return f"{escape_markdown(title)}\n\n{text}\n"


def _markdown_cell(cell: Cell) -> str:
    mark = f"^{escape_markdown(cell.mark)}^" if cell.mark else ""
    return escape_markdown(cell.text) + mark


def escape_markdown(text: str) -> str:
    """Escape a text for a cell of a Markdown pipe table.

    Underscores inside a word are not markup and stay, so that `p_value` remains readable.
    """
    flat = on_one_line(text).replace("\0", "\ufffd")
    flat = escape_controls(flat)
    marks = r"[\\`*<\[\]|$~]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)"
    return re.sub(marks, lambda mark: "\\" + mark[0], flat)


def escape_cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table of the documentation, which may contain HTML."""
    text = " ".join(str(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    text = text.replace(">", "&gt;").replace("\\", "\\\\")
    for character in "|*_`[]#{}":
        text = text.replace(character, f"\\{character}")
    return text


def _show_controls(value: Any) -> Any:
    is_markup = hasattr(value, "__html__")
    return escape_controls(value) if isinstance(value, str) and not is_markup else value


@cache
def html_environment(package: str) -> Environment:
    """Environment for the templates of a package, which escapes all values for HTML.

    Control characters become visible, since those for text direction would reorder text around
    them.
    """
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_show_controls,
    )
    return environment
