"""Layout of tidy frames as tables, and formatting of values.

A tidy frame has one row per cell: key columns that identify the cell, then `value` (a number or a
text), and optionally `marker`, such as significance letters, shown as a superscript. A table is
*laid out*: some key columns label its rows, the others its columns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import pandas as pd

#: Number of decimals by metric; "text" keeps all digits.
Decimals = Mapping[str, int | Literal["text"]]


class HeadCell(NamedTuple):
    """Label that spans `span` columns (in the header) or rows."""

    label: str
    span: int


#: Columns of a tidy frame other than keys: the value, its marker and the bounds of its interval.
VALUE_COLUMNS = ("value", "marker", "low", "high")


def lay_out(
    frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str], value: str = "value"
) -> pd.DataFrame:
    """Arrange a tidy frame as a table, with keys in order of first appearance."""
    frame = frame.reset_index(drop=True)
    keys = [*rows, *columns]
    missing_keys = [key for key in [*keys, value] if key not in frame]
    if not rows or missing_keys:
        raise ValueError(
            f"cannot lay out by rows {list(rows)} and columns {list(columns)}: give at least one "
            f"row key, and only columns of the table, which are {list(frame.columns)}."
        )
    for key in keys:
        if frame[key].isna().any():
            raise ValueError(
                f"column {key!r}, row {int(frame[key].isna().argmax())}: a key is empty; read "
                "text such as 'None' with keep_default_na=False."
            )
    is_duplicate = frame.duplicated(keys)
    if is_duplicate.any():
        raise ValueError(
            f"two cells for {frame.loc[is_duplicate, keys].iloc[0].to_dict()}; add another key "
            "column."
        )
    if columns:
        table = frame.set_index(keys)[value].astype(object).unstack(list(columns))
        table = table[_ordered_keys(frame, columns)]
    else:
        table = frame.set_index(keys)[[value]].astype(object)
    return table.loc[_ordered_keys(frame, rows)]


def _ordered_keys(frame: pd.DataFrame, keys: Sequence[str]) -> pd.Index:
    """Distinct keys, with each level in order of first appearance in its group."""
    distinct = dict.fromkeys(zip(*(frame[key].tolist() for key in keys), strict=True))
    row: dict[tuple, int] = {}
    for names in distinct:
        for depth in range(len(keys)):
            row.setdefault(names[: depth + 1], len(row))
    ordered = sorted(
        distinct, key=lambda names: [row[names[: depth + 1]] for depth in range(len(keys))]
    )
    if len(keys) == 1:
        return pd.Index([name for (name,) in ordered], name=keys[0])
    return pd.MultiIndex.from_tuples(ordered, names=list(keys))


def head_rows(columns: pd.Index) -> list[list[HeadCell]]:
    """Header rows of a table; adjacent equal labels under the same parent become one cell."""
    keys = [column if isinstance(column, tuple) else (column,) for column in columns]
    levels = range(columns.nlevels)
    return [
        [
            HeadCell(str(prefix[-1]), len(list(group)))
            for prefix, group in groupby(keys, key=lambda key, level=level: key[: level + 1])
        ]
        for level in levels
    ]


def label_texts(index: pd.Index) -> pd.DataFrame:
    """Labels of rows as texts, shape (rows, levels)."""
    rows = [label if isinstance(label, tuple) else (label,) for label in index]
    # With dtype object, pandas does not convert 1 to 1.0.
    return pd.DataFrame(rows, columns=range(index.nlevels), dtype=object).map(str)


def labels_once(labels: pd.DataFrame) -> pd.DataFrame:
    """Labels of rows, emptied where an earlier row of the group has the same label."""
    result = labels.copy()
    for depth in range(labels.shape[1]):
        is_repeated = labels.iloc[:, : depth + 1].duplicated()
        result.iloc[:, depth] = result.iloc[:, depth].mask(is_repeated, "")
    return result


def label_cells(keys: pd.Index, labels: pd.Index) -> list[list[HeadCell]]:
    """Labels that start in each row, with the number of rows in their group.

    Groups are formed by `keys`, since different keys may have the same displayed label.
    """
    key_rows, label_rows = (
        [key if isinstance(key, tuple) else (key,) for key in index] for index in (keys, labels)
    )
    depths = range(keys.nlevels)
    sizes = Counter(key[: depth + 1] for key in key_rows for depth in depths)
    # A group's size is removed at its first row.
    return [
        [
            HeadCell(str(texts[depth]), sizes.pop(key[: depth + 1]))
            for depth in depths
            if key[: depth + 1] in sizes
        ]
        for key, texts in zip(key_rows, label_rows, strict=True)
    ]


def show_value(value: Any, decimals: int | Literal["text"] | None = None) -> str:
    """Format one value for readers."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral):
        if isinstance(decimals, int):
            return f"{value:z.{decimals}f}"
        if decimals == "text":
            return repr(float(value))
        # All digits of the integer part are shown.
        size: Any = abs(value)
        digits = f"{value:.0f}" if size >= 1e6 else f"{value:.6g}"
        return "0" if size < 1e-12 else digits
    return str(value)


def format_marks(marks: pd.DataFrame, form: str, escape: Callable[[str], str]) -> pd.DataFrame:
    """Format markers as superscripts; cells without one stay empty."""
    return marks.map(lambda mark: form.format(escape(mark)) if mark else "")


def published_mark(marker: str) -> str:
    """Format a published marker for readers.

    In the CSV files, a superscript and a subscript of one cell are written as "bcd;_f-j", and a
    dash instead of a number has the marker "not_reported".
    """
    return "" if marker == "not_reported" else marker.replace(";_", ",")
