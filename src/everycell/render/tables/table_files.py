"""Files of a tidy frame: CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from pandas.api.types import is_scalar

from everycell.base.files import write_atomically
from everycell.render.html_templates import html_environment
from everycell.render.tables.latex import latex_document, latex_table
from everycell.render.tables.layout import (
    Decimals,
    head_rows,
    label_cells,
    lay_out,
    show_value,
)
from everycell.render.tables.markdown import table_as_markdown
from everycell.render.tables.names import with_headings

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
    displayed = frame.assign(value=_displayed_values(frame, "value", decimals))
    if {"low", "high"} <= set(frame.columns) - {*layout_rows, *layout_columns}:
        intervals = zip(
            *(_displayed_values(frame, name, decimals) for name in ("value", "low", "high")),
            strict=True,
        )
        displayed["value"] = [f"{value} ({low} to {high})" for value, low, high in intervals]
    plain = lay_out(displayed, layout_rows, layout_columns).fillna("")
    table = with_headings(plain, names)
    if "marker" in frame:
        marks = lay_out(frame, layout_rows, layout_columns, "marker").fillna("")
        marks.index, marks.columns = table.index, table.columns
    else:
        marks = table.map(lambda _: "")
    label = f"tab:{stem.parent.name}-{stem.name}".replace("_", "-")
    texts = {
        ".csv": frame.to_csv(index=False, lineterminator="\n"),
        ".md": table_as_markdown(table, marks, title),
        ".tex": latex_document(latex_table(table, marks, title, label, max_pages=_MAX_PAGES)),
        ".html": _table_as_html(table, marks, title, plain.index),
    }
    return [
        write_atomically(stem.with_name(stem.name + suffix), text) for suffix, text in texts.items()
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


def _table_as_html(table: pd.DataFrame, marks: pd.DataFrame, title: str, keys: pd.Index) -> str:
    head = head_rows(table.columns)
    names = [str(name) for name in table.index.names]
    corner = [[""] * len(names)] * (len(head) - 1) + [names]
    body = [
        {"labels": labels, "cells": list(zip(values, row_marks, strict=True))}
        for labels, values, row_marks in zip(
            label_cells(keys, table.index), table.to_numpy(), marks.to_numpy(), strict=True
        )
    ]
    return (
        html_environment("everycell.render.tables")
        .get_template("table.html.j2")
        .render(
            title=title,
            head=[
                {"corner": blanks, "cells": cells}
                for blanks, cells in zip(corner, head, strict=True)
            ],
            body=body,
        )
    )
