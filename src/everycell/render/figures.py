"""Figures with panels for any study: boxplots, bars, agreement, and lines with intervals.

Frames are tidy, with one row per mark or observation. Panels, groups and series are in order of
first appearance.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from everycell.render.figure_files import HATCHES, MARKERS, TEXT_WIDTH, style
from everycell.render.palette import BLUE, BOX, COLOURS, INK, VERMILION


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


def marker_sizes(series: int) -> list[float]:
    """Decreasing sizes of markers in points, so that series with equal values remain visible."""
    step = min(1.4, 3 / max(1, series - 1))
    return [3.5 + step * (series - 1 - number) for number in range(series)]


def common_legend(figure: Figure, *, handlelength: float = 2.0) -> None:
    """Draw one legend above all panels, in as many columns as fit."""
    handles = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    # Width of the longest entry in inches, from its handle and its letters.
    width = 0.36 + 0.11 * handlelength + 0.058 * max(map(len, handles))
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside upper center",
        ncols=max(1, int(figure.get_figwidth() // width)),
        fontsize=8,
        handlelength=handlelength,
    )


def box_panels(
    frame: pd.DataFrame,
    *,
    group: str,
    panel: str | None = None,
    value: str = "value",
    group_label: str = "",
    value_label: str = "",
    whiskers: float | Mapping[str, float] = 1.5,
    columns: int = 3,
) -> Figure:
    """Boxplots of observations by group, in panels, with coloured medians."""
    check_numbers(frame, [value])
    panels = rows_by(frame, panel)
    with style():
        figure, axes = _axes_of_panels(len(panels), columns, width=3.0, height=2.2)
        for axis, (name, rows) in zip(axes, panels.items(), strict=True):
            groups = rows_by(rows, group)
            length = whiskers if isinstance(whiskers, int | float) else whiskers[name]
            axis.boxplot(
                [observations[value].to_numpy(dtype=float) for observations in groups.values()],
                tick_labels=list(groups),
                whis=length,
                widths=0.6,
                patch_artist=True,
                boxprops={"facecolor": BOX, "edgecolor": INK, "linewidth": 0.8},
                whiskerprops={"color": INK, "linewidth": 0.8},
                capprops={"color": INK, "linewidth": 0.8},
                medianprops={"color": VERMILION, "linewidth": 2.2},
                flierprops={"marker": "o", "markersize": 3, "markeredgecolor": INK},
            )
            axis.set_title(_wrap_title(axis, name))
        _label(figure, axes, group_label, value_label)
    return figure


def bar_panels(
    frame: pd.DataFrame,
    *,
    group: str,
    series: str | None = None,
    panel: str | None = None,
    value: str = "value",
    group_label: str = "",
    value_label: str = "",
    decimals: int = 2,
    columns: int = 2,
    scale: tuple[float, float] | None = None,
) -> Figure:
    """Bars by group and series in panels, with the value above each bar.

    Bars start at the lower end of a rating `scale`, by default at 0.
    """
    check_numbers(frame, [value])
    keys = [key for key in (panel, group, series) if key is not None]
    is_duplicate = frame.duplicated(keys)
    if is_duplicate.any():
        raise ValueError(
            f"two bars for {frame.loc[is_duplicate, keys].iloc[0].to_dict()}; set `series` or "
            "`panel`."
        )
    panels = rows_by(frame, panel)
    styles = zip(cycle(COLOURS), cycle(HATCHES), strict=False)
    styles_by_name = dict(zip(rows_by(frame, series), styles, strict=False))
    low = scale[0] if scale else 0
    with style():
        figure, axes = _axes_of_panels(len(panels), columns, width=3.6, height=2.6)
        for axis, (title, rows) in zip(axes, panels.items(), strict=True):
            groups = list(rows_by(rows, group))
            rows_of_series = rows_by(rows, series)
            width = 0.8 / len(rows_of_series)
            # The bars of a group are centred on its label, even if it lacks some series.
            labels = rows[group].astype(str)
            position = labels.map(groups.index) + width * (
                rows.groupby(labels).cumcount() - (labels.map(labels.value_counts()) - 1) / 2
            )
            for name, bars in rows_of_series.items():
                colour, hatch = styles_by_name[name]
                container = axis.bar(
                    position[bars.index].to_numpy(dtype=float),
                    bars[value].to_numpy(dtype=float) - low,
                    width * 0.92,
                    bottom=low,
                    label=name,
                    color=colour,
                    hatch=hatch,
                    edgecolor="white",
                    linewidth=0.5,
                )
                labels_above = [f"{number:.{decimals}f}" for number in bars[value]]
                axis.bar_label(container, labels_above, fontsize=6.5, padding=1)
            axis.set_xticks(range(len(groups)), groups)
            axis.set_title(_wrap_title(axis, title))
            if scale:
                axis.set_ylim(scale)
                axis.yaxis.set_major_locator(MultipleLocator(1))
            else:
                # Room for the value above the highest bar.
                axis.set_ylim(top=max(axis.get_ylim()[1], frame[value].max() * 1.1))
        if series is not None:
            common_legend(figure, handlelength=1.5)
        _label(figure, axes, group_label, value_label)
    return figure


def agreement_panels(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    count: str,
    panel: str | None = None,
    x_label: str = "",
    y_label: str = "",
    columns: int = 3,
) -> Figure:
    """Points around the diagonal, such as scores of two runs; areas show numbers of items."""
    check_numbers(frame, [x, y, count])
    panels = rows_by(frame, panel)
    low, high = frame[[x, y]].min().min(), frame[[x, y]].max().max()
    margin = 0.04 * (high - low or 1)
    with style():
        figure, axes = _axes_of_panels(len(panels), columns, width=2.8, height=2.8)
        for axis, (title, points) in zip(axes, panels.items(), strict=True):
            axis.axline((low, low), slope=1, color=INK, linewidth=0.8)
            area = 4 + 150 * points[count] / frame[count].max()
            axis.scatter(points[x], points[y], s=area, color=BLUE, alpha=0.6, linewidths=0)
            largest = (points[y] - points[x]).abs().max()
            axis.set_title(
                f"{title}\nn = {points[count].sum():,}\nlargest difference {largest:.2g}"
            )
            axis.set(xlim=(low - margin, high + margin), ylim=(low - margin, high + margin))
            axis.set_aspect("equal")
        _label(figure, axes, x_label, y_label)
    return figure


def interval_lines(
    frame: pd.DataFrame,
    *,
    x: str,
    low: str,
    high: str,
    series: str | None = None,
    panel: str | None = None,
    value: str = "value",
    x_label: str = "",
    value_label: str = "",
    reference: float | None = None,
    columns: int = 2,
) -> Figure:
    """Lines with an interval at each point, such as rejection rates with binomial intervals."""
    check_numbers(frame, [x])
    check_intervals(frame, value, low, high)
    panels = rows_by(frame, panel)
    names = list(rows_by(frame, series))
    styles = dict(zip(names, zip(cycle(COLOURS), cycle(MARKERS), strict=False), strict=False))
    sizes = dict(zip(names, marker_sizes(len(names)), strict=True))
    with style():
        figure, axes = _axes_of_panels(len(panels), columns, width=3.8, height=2.8)
        for axis, (title, rows) in zip(axes, panels.items(), strict=True):
            if reference is not None:
                axis.axhline(reference, color=INK, linestyle="--", linewidth=0.8)
            for name, points in rows_by(rows, series).items():
                colour, marker = styles[name]
                line = points.sort_values(x)
                axis.plot(
                    line[x],
                    line[value],
                    color=colour,
                    marker=marker,
                    markersize=sizes[name],
                    label=name,
                )
                axis.fill_between(line[x], line[low], line[high], color=colour, alpha=0.2, lw=0)
            axis.set_title(_wrap_title(axis, title))
        if series is not None:
            common_legend(figure)
        _label(figure, axes, x_label, value_label)
    return figure


def _axes_of_panels(
    panels: int, columns: int, *, width: float, height: float
) -> tuple[Figure, list[Axes]]:
    """Make a figure with a grid of panels; width and height of a panel are in inches.

    Panels become narrower if the figure would be wider than the text.
    """
    columns = min(columns, panels)
    rows = math.ceil(panels / columns)
    figsize = (min(width * columns, TEXT_WIDTH), height * rows)
    figure = Figure(figsize=figsize, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for unused in axes[panels:]:
        unused.remove()
    return figure, list(axes[:panels])


def _wrap_title(axis: Axes, title: str) -> str:
    """Break a title into lines that fit the width of its panel; a bold letter has 0.08 inches."""
    width = axis.figure.get_figwidth() / axis.get_subplotspec().get_gridspec().ncols
    return textwrap.fill(title, int(width / 0.08))


def _label(figure: Figure, axes: list[Axes], x_label: str, y_label: str) -> None:
    if len(axes) == 1:
        axes[0].set(xlabel=x_label, ylabel=y_label)
    else:
        figure.supxlabel(x_label, fontsize=9)
        figure.supylabel(y_label, fontsize=9)
