"""Helpers for figures: groups of rows, checks of frames, marks with intervals, a common legend.

Frames are tidy, with one row per mark.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def rows_by(frame: pd.DataFrame, key: str | None) -> dict[str, pd.DataFrame]:
    """Rows of each panel, group or series, in order of first appearance."""
    if key is None:
        return {"": frame}
    return {str(name): rows for name, rows in frame.groupby(key, sort=False)}


def check_numbers(frame: pd.DataFrame, numbers: list[str]) -> None:
    """Raise an error if a frame has no rows, or a number is missing or infinite."""
    if frame.empty:
        raise ValueError("there is nothing to draw: the table has no rows.")
    for name in numbers:
        is_invalid = ~np.isfinite(frame[name].to_numpy(dtype=float))
        if is_invalid.any():
            row = int(is_invalid.argmax())
            raise ValueError(
                f"column {name!r}, row {row}: got {frame[name].iloc[row]}, expected a finite "
                "number; remove the row."
            )


def check_intervals(
    frame: pd.DataFrame, value: str = "value", low: str = "low", high: str = "high"
) -> None:
    """Raise an error if a value is outside its interval, missing or infinite."""
    check_numbers(frame, [value, low, high])
    is_outside = (frame[value] < frame[low]) | (frame[value] > frame[high])
    if is_outside.any():
        raise ValueError(
            f"row {int(is_outside.argmax())}: {value} is outside the interval from {low} to {high}."
        )


def check_known(frame: pd.DataFrame, column: str, known: tuple[str, ...]) -> None:
    """Raise an error if `column` contains a name that the figure cannot show."""
    unknown = frame.loc[~frame[column].isin(known), column]
    if not unknown.empty:
        raise ValueError(
            f"column {column!r}: got {unknown.iloc[0]!r}, expected one of {', '.join(known)}."
        )


def check_single(frame: pd.DataFrame, keys: list[str]) -> None:
    """Raise an error if two rows have the same values in the columns `keys`."""
    is_duplicate = frame.duplicated(keys)
    if is_duplicate.any():
        raise ValueError(
            f"two marks for {frame.loc[is_duplicate, keys].iloc[0].to_dict()}; remove one."
        )


def draw_marks(
    axis: Axes, marks: pd.DataFrame, positions: pd.Series, *, across: bool, **style: str
) -> None:
    """Draw values with horizontal (`across`) or vertical intervals."""
    value = marks["value"].to_numpy(dtype=float)
    distances = np.abs(marks[["low", "high"]].to_numpy(dtype=float).T - value)
    coordinates = positions.to_numpy(dtype=float)
    axis.errorbar(
        *((value, coordinates) if across else (coordinates, value)),
        **{"xerr" if across else "yerr": distances},
        linestyle="",
        markersize=5,
        elinewidth=1.2,
        capsize=2.5,
        **style,
    )


def common_legend(figure: Figure, *, handlelength: float = 2.0) -> None:
    """Draw one legend above all panels, in as many columns as fit."""
    handles = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    # Width of the longest entry in inches, from its handle and its letters.
    width = 0.28 + 0.11 * handlelength + 0.058 * max(map(len, handles))
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside upper center",
        ncols=max(1, int(figure.get_figwidth() // width)),
        fontsize=8,
        handlelength=handlelength,
    )
