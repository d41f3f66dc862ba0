"""Markdown pipe tables."""

from __future__ import annotations

import re

import pandas as pd

from everycell.render.tables.layout import format_marks, label_texts, labels_once


def escape_markdown(text: str) -> str:
    """Escape a text for a cell of a Markdown pipe table.

    Underscores inside a word are not markup and stay, so that `p_value` remains readable.
    """
    flat = re.sub(r"\s*[\n\v\f\r\u0085\u2028\u2029]\s*", " ", text).replace("\0", "\ufffd")
    marks = r"[\\`*<\[\]|$~]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)"
    return re.sub(marks, lambda mark: "\\" + mark[0], flat)


def table_as_markdown(table: pd.DataFrame, marks: pd.DataFrame, title: str) -> str:
    """Title and pipe table of a laid-out table, with superscript `marks` after its values."""
    flat = table.map(escape_markdown) + format_marks(marks, "^{}^", escape_markdown)
    # Pipe tables have one header row, so the levels of a column are joined.
    flat.columns = [
        escape_markdown(
            " · ".join(filter(None, map(str, key if isinstance(key, tuple) else (key,))))
        )
        for key in table.columns
    ]
    labels = labels_once(label_texts(table.index)).map(escape_markdown).set_axis(table.index)
    for depth, name in enumerate(table.index.names):
        heading = escape_markdown(str(name))
        flat.insert(depth, heading, labels.iloc[:, depth], allow_duplicates=True)
    text = flat.to_markdown(index=False, disable_numparse=True)
    return f"{escape_markdown(title)}\n\n{text}\n"
