"""A tidy frame as rows and columns that a reader sees, and one value as a reader sees it.

A tidy frame has one row per cell: key columns, which name the cell, then `value`, a number or a
text, and perhaps `marker`, such as letters of significance, which stands raised after the value.
A table is *laid out*: some key columns run down, the others run across.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import pandas as pd

#: Digits after the point by metric; "text" leaves a number as it is.
Decimals = Mapping[str, int | Literal["text"]]


class HeadCell(NamedTuple):
    """A cell of a table's head: a label over `span` columns."""

    label: str
    span: int


#: Columns of a tidy table that are no keys: the value, its marker and the bounds of its interval.
NO_KEYS = ("value", "marker", "low", "high")


def lay_out(
    frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str], value: str = "value"
) -> pd.DataFrame:
    """Arrange a tidy frame as a reader sees it, in the order in which its keys appear."""
    frame = frame.reset_index(drop=True)
    keys = [*rows, *columns]
    missing = [key for key in [*keys, value] if key not in frame]
    if not rows or missing:
        raise ValueError(
            f"cannot lay out by rows {list(rows)} and columns {list(columns)}: name at least one "
            f"row key, and only columns of the table, which are {list(frame.columns)}."
        )
    for key in keys:
        if frame[key].isna().any():
            raise ValueError(
                f"column {key!r}, row {int(frame[key].isna().argmax())}: a key is empty; read "
                "text such as 'None' with keep_default_na=False."
            )
    twice = frame.duplicated(keys)
    if twice.any():
        raise ValueError(
            f"two cells for {frame.loc[twice, keys].iloc[0].to_dict()}; name a further key column."
        )
    if columns:
        laid = frame.set_index(keys)[value].astype(object).unstack(list(columns))
        laid = laid[_ordered_keys(frame, columns)]
    else:
        laid = frame.set_index(keys)[[value]].astype(object)
    return laid.loc[_ordered_keys(frame, rows)]


def _ordered_keys(frame: pd.DataFrame, keys: Sequence[str]) -> pd.Index:
    """Return the distinct keys, each level in the order of first appearance in its group."""
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
    """Rows of a table's head: equal labels side by side under one parent become one cell.

    Examples
    --------
    >>> head_rows(pd.MultiIndex.from_tuples([("a", "p"), ("a", "r"), ("b", "p")]))
    ... # doctest: +ELLIPSIS
    [[HeadCell(label='a', span=2), HeadCell(label='b', span=1)], [HeadCell(label='p', span=1), ...
    """
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
    # As objects: a column of numbers would make 1.0 of a 1.
    return pd.DataFrame(rows, columns=range(index.nlevels), dtype=object).map(str)


def labels_once(labels: pd.DataFrame) -> pd.DataFrame:
    """Labels of rows; empty where an earlier row of the group has the same.

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 2)])
    >>> labels_once(label_texts(index)).to_numpy().tolist()
    [['a', '1'], ['', '2'], ['b', '2']]
    """
    once = labels.copy()
    for depth in range(labels.shape[1]):
        once.iloc[:, depth] = once.iloc[:, depth].mask(labels.iloc[:, : depth + 1].duplicated(), "")
    return once


def label_cells(keys: pd.Index, labels: pd.Index) -> list[list[HeadCell]]:
    """Labels that start in each row, with the number of rows of their group.

    Groups are told apart by `keys`: what a reader sees of two may be the same.
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
    """Return one value as a reader sees it.

    Examples
    --------
    >>> show_value(0.01449, 3), show_value(-0.0001, 3), show_value("<.001", 3), show_value(27, 3)
    ('0.014', '0.000', '<.001', '27')
    >>> show_value(None, 3), show_value(0.1 + 0.2), show_value(0.1 + 0.2, "text")
    ('', '0.3', '0.30000000000000004')
    >>> show_value(0.1 + 0.2 - 0.3), show_value(12345678.9)
    ('0', '12345679')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral):
        if isinstance(decimals, int):
            return f"{value:z.{decimals}f}"
        if decimals == "text":
            return repr(float(value))
        # Never fewer digits than the whole part has.
        size: Any = abs(value)
        digits = f"{value:.0f}" if size >= 1e6 else f"{value:.6g}"
        return "0" if size < 1e-12 else digits
    return str(value)


def raised(marks: pd.DataFrame, form: str, escape: Callable[[str], str]) -> pd.DataFrame:
    """Markers of a laid out table in the form that raises them; empty where there is none.

    Examples
    --------
    >>> raised(pd.DataFrame({"P@5": ["b", ""]}), "^{}^", str)["P@5"].tolist()
    ['^b^', '']
    """
    return marks.map(lambda mark: form.format(escape(mark)) if mark else "")


def published_mark(marker: str) -> str:
    """Return a published marker as a reader sees it.

    Our copy writes a raised and a lowered text of one cell as "bcd;_f-j", and gives a dash in place
    of a number the marker "not_reported".

    Examples
    --------
    >>> published_mark("bcd;_f-j"), published_mark("†"), published_mark("not_reported")
    ('bcd,f-j', '†', '')
    """
    return "" if marker == "not_reported" else marker.replace(";_", ",")
