"""What drawings share: rows in their order, checks of frames, marks with intervals, a legend.

A frame is tidy, one row per mark.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def rows_by(frame: pd.DataFrame, key: str | None) -> dict[str, pd.DataFrame]:
    """Rows of each panel, group or series, in the order in which these first appear.

    Examples
    --------
    >>> frame = pd.DataFrame({"task": ["cite", "co-cite", "cite"], "value": [1, 2, 3]})
    >>> {task: rows["value"].tolist() for task, rows in rows_by(frame, "task").items()}
    {'cite': [1, 3], 'co-cite': [2]}
    """
    if key is None:
        return {"": frame}
    return {str(name): rows for name, rows in frame.groupby(key, sort=False)}


def check_numbers(frame: pd.DataFrame, numbers: list[str]) -> None:
    """Refuse a frame without rows, and rows in which a number is missing or infinite.

    Examples
    --------
    >>> check_numbers(pd.DataFrame({"value": [0.5, None]}), ["value"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: column 'value', row 1: found nan, and only finite numbers can be drawn; leave...
    """
    if frame.empty:
        raise ValueError("there is nothing to draw: the table has no rows.")
    for name in numbers:
        bad = ~np.isfinite(frame[name].to_numpy(dtype=float))
        if bad.any():
            raise ValueError(
                f"column {name!r}, row {int(bad.argmax())}: found {frame[name].iloc[bad.argmax()]}"
                ", and only finite numbers can be drawn; leave the row out."
            )


def check_intervals(
    frame: pd.DataFrame, value: str = "value", low: str = "low", high: str = "high"
) -> None:
    """Refuse intervals that do not hold their value, and what `check_numbers` refuses.

    Examples
    --------
    >>> check_intervals(pd.DataFrame({"value": [0.5], "low": [0.6], "high": [0.7]}))
    Traceback (most recent call last):
    ValueError: row 0: value lies outside low to high.
    """
    check_numbers(frame, [value, low, high])
    outside = (frame[value] < frame[low]) | (frame[value] > frame[high])
    if outside.any():
        raise ValueError(f"row {int(outside.argmax())}: {value} lies outside {low} to {high}.")


def check_known(frame: pd.DataFrame, column: str, known: tuple[str, ...]) -> None:
    """Refuse a row whose text in `column` is none of those that the figure can show.

    Examples
    --------
    >>> check_known(pd.DataFrame({"series": ["curve", "line"]}), "series", ("curve", "oracle"))
    Traceback (most recent call last):
    ValueError: column 'series': found 'line', and only curve, oracle can be drawn; correct it.
    """
    strange = frame.loc[~frame[column].isin(known), column]
    if not strange.empty:
        raise ValueError(
            f"column {column!r}: found {strange.iloc[0]!r}, and only {', '.join(known)} can be "
            "drawn; correct it."
        )


def check_single(frame: pd.DataFrame, keys: list[str]) -> None:
    """Refuse two rows that would stand in one place: with equal values in the columns `keys`.

    Examples
    --------
    >>> check_single(pd.DataFrame({"system": ["BM25", "BM25"]}), ["system"])
    Traceback (most recent call last):
    ValueError: two marks for {'system': 'BM25'}; draw each only once.
    """
    twice = frame.duplicated(keys)
    if twice.any():
        raise ValueError(
            f"two marks for {frame.loc[twice, keys].iloc[0].to_dict()}; draw each only once."
        )


def draw_marks(
    axis: Axes, marks: pd.DataFrame, positions: pd.Series, *, across: bool, **look: str
) -> None:
    """Draw values with their intervals, in rows or (not `across`) in columns.

    Examples
    --------
    >>> axis = Figure().subplots()
    >>> marks = pd.DataFrame({"value": [0.5], "low": [0.4], "high": [0.7]})
    >>> draw_marks(axis, marks, pd.Series([0]), across=True, label="MAP")
    >>> axis.containers[0].lines[0].get_xdata().tolist()
    [0.5]
    """
    value = marks["value"].to_numpy(dtype=float)
    ends = np.abs(marks[["low", "high"]].to_numpy(dtype=float).T - value)
    coordinates = positions.to_numpy(dtype=float)
    axis.errorbar(
        *((value, coordinates) if across else (coordinates, value)),
        **{"xerr" if across else "yerr": ends},
        linestyle="",
        markersize=5,
        elinewidth=1.2,
        capsize=2.5,
        **look,
    )


def common_legend(figure: Figure, *, handlelength: float = 2.0) -> None:
    """Name each look once above all panels, in as many columns as there is room for.

    Examples
    --------
    >>> figure = Figure()
    >>> for axis in figure.subplots(1, 2):
    ...     _ = axis.plot([1, 2], label="BM25")
    >>> common_legend(figure)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['BM25']
    """
    handles = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    # Inches, of the handle and of a letter.
    longest = 0.28 + 0.11 * handlelength + 0.058 * max(map(len, handles))
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside upper center",
        ncols=max(1, int(figure.get_figwidth() // longest)),
        fontsize=8,
        handlelength=handlelength,
    )
