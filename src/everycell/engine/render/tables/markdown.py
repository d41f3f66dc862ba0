"""A laid out table as a Markdown pipe table."""

from __future__ import annotations

import re

import pandas as pd

from everycell.engine.render.tables.layout import label_texts, labels_once, raised


def escape_markdown(text: str) -> str:
    r"""Escape a text for a cell of a Markdown pipe table.

    Underscores inside a word mark nothing and stay, so that `p_value` is readable as it is.

    Examples
    --------
    >>> print(escape_markdown("a|b *c* p_value <i>"))
    a\|b \*c\* p_value \<i>
    """
    flat = re.sub(r"\s*[\n\v\f\r\u0085\u2028\u2029]\s*", " ", text).replace("\0", "\ufffd")
    marks = r"[\\`*<\[\]|$~]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)"
    return re.sub(marks, lambda mark: "\\" + mark[0], flat)


def table_as_markdown(laid: pd.DataFrame, marks: pd.DataFrame, title: str) -> str:
    """Return a laid out table, with raised `marks` after its values, under its title."""
    flat = laid.map(escape_markdown) + raised(marks, "^{}^", escape_markdown)
    # Pipe tables have one row of heads, so the levels of a column are joined.
    flat.columns = [
        escape_markdown(
            " · ".join(filter(None, map(str, key if isinstance(key, tuple) else (key,))))
        )
        for key in laid.columns
    ]
    labels = labels_once(label_texts(laid.index)).map(escape_markdown).set_axis(laid.index)
    for depth, name in enumerate(laid.index.names):
        heading = escape_markdown(str(name))
        flat.insert(depth, heading, labels.iloc[:, depth], allow_duplicates=True)
    table = flat.to_markdown(index=False, disable_numparse=True)
    return f"{escape_markdown(title)}\n\n{table}\n"
