"""Drawings that any study may use: boxes, bars and lines with intervals, in panels.

They take tidy frames, one row per mark or an observation, and give a `Figure`; panels, groups and
series stand in the order in which they first appear.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import cycle

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from everycell.engine.render.figure_files import COLOURS, HATCHES, INK, MARKERS, style
from everycell.engine.render.marks import check_intervals, check_numbers, common_legend, rows_by


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
    """Boxplots of observations by group, a panel for each measure; medians stand out by colour."""
    check_numbers(frame, [value])
    panels = rows_by(frame, panel)
    with style():
        figure, axes = _grid(len(panels), columns, width=3.0, height=2.2)
        for axis, (name, rows) in zip(axes, panels.items(), strict=True):
            groups = rows_by(rows, group)
            reach = whiskers if isinstance(whiskers, int | float) else whiskers[name]
            axis.boxplot(
                [observed[value].to_numpy(dtype=float) for observed in groups.values()],
                tick_labels=list(groups),
                whis=reach,
                widths=0.6,
                patch_artist=True,
                boxprops={"facecolor": "#dcebf5", "edgecolor": INK, "linewidth": 0.8},
                whiskerprops={"color": INK, "linewidth": 0.8},
                capprops={"color": INK, "linewidth": 0.8},
                medianprops={"color": COLOURS[4], "linewidth": 2.2},
                flierprops={"marker": "o", "markersize": 3, "markeredgecolor": INK},
            )
            axis.set_title(name)
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
    """Bars by group and series, each with its value in figures above it, in panels.

    Bars start at the lower end of a rating `scale`, by default at 0. Each panel has a legend of its
    own if the figure has more series than there are looks.
    """
    check_numbers(frame, [value])
    keys = [key for key in (panel, group, series) if key is not None]
    twice = frame.duplicated(keys)
    if twice.any():
        raise ValueError(
            f"two bars for {frame.loc[twice, keys].iloc[0].to_dict()}; name a series or a panel."
        )
    panels = rows_by(frame, panel)
    names = list(rows_by(frame, series))
    own_legends = len(names) > len(COLOURS)
    low = scale[0] if scale else 0
    with style():
        figure, axes = _grid(len(panels), columns, width=3.6, height=2.6)
        for axis, (title, rows) in zip(axes, panels.items(), strict=True):
            groups = list(rows_by(rows, group))
            rows_of_series = rows_by(rows, series)
            looks = zip(cycle(COLOURS), cycle(HATCHES), strict=False)
            look = dict(zip(rows_of_series if own_legends else names, looks, strict=False))
            width = 0.8 / len(rows_of_series)
            # The bars that a group has stand around its label, however many they are.
            labels = rows[group].astype(str)
            position = labels.map(groups.index) + width * (
                rows.groupby(labels).cumcount() - (labels.map(labels.value_counts()) - 1) / 2
            )
            for name, bars in rows_of_series.items():
                colour, hatch = look[name]
                drawn = axis.bar(
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
                axis.bar_label(drawn, labels_above, fontsize=7, padding=1)
            axis.set_xticks(range(len(groups)), groups)
            axis.set_title(title, pad=18 if own_legends else None)
            if own_legends:
                above = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.99)}
                axis.legend(**above, ncols=len(rows_of_series), fontsize=7, columnspacing=1.2)
            if scale:
                axis.set_ylim(scale)
                axis.yaxis.set_major_locator(MultipleLocator(1))
            else:
                # Room for the value above the highest bar.
                axis.set_ylim(top=max(axis.get_ylim()[1], frame[value].max() * 1.1))
        if series is not None and not own_legends:
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
    """Points around the diagonal, such as a score by two runs; areas are numbers of items."""
    check_numbers(frame, [x, y, count])
    panels = rows_by(frame, panel)
    low, high = frame[[x, y]].min().min(), frame[[x, y]].max().max()
    margin = 0.04 * (high - low or 1)
    with style():
        figure, axes = _grid(len(panels), columns, width=2.8, height=3.1)
        for axis, (title, points) in zip(axes, panels.items(), strict=True):
            axis.axline((low, low), slope=1, color=INK, linewidth=0.8)
            area = 4 + 150 * points[count] / frame[count].max()
            axis.scatter(points[x], points[y], s=area, color=COLOURS[0], alpha=0.6, linewidths=0)
            farthest = (points[y] - points[x]).abs().max()
            axis.set_title(
                f"{title}\nn = {points[count].sum():,}, largest difference {farthest:.2g}"
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
    legend_above: bool = False,
) -> Figure:
    """Lines with an interval at each point, such as a rejection rate with its binomial one."""
    check_numbers(frame, [x])
    check_intervals(frame, value, low, high)
    panels = rows_by(frame, panel)
    names = list(rows_by(frame, series))
    look = dict(zip(names, zip(cycle(COLOURS), cycle(MARKERS), strict=False), strict=False))
    with style():
        figure, axes = _grid(len(panels), columns, width=3.8, height=2.8)
        for axis, (title, rows) in zip(axes, panels.items(), strict=True):
            if reference is not None:
                axis.axhline(reference, color=INK, linestyle="--", linewidth=0.8)
            for name, points in rows_by(rows, series).items():
                colour, marker = look[name]
                line = points.sort_values(x)
                axis.plot(
                    line[x], line[value], color=colour, marker=marker, markersize=4, label=name
                )
                axis.fill_between(line[x], line[low], line[high], color=colour, alpha=0.2, lw=0)
            axis.set_title(title)
            if series is not None and not legend_above:
                axis.legend(fontsize=7)
        if legend_above:
            common_legend(figure)
        _label(figure, axes, x_label, value_label)
    return figure


def _grid(panels: int, columns: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Make a figure with a grid of panels; width and height of a panel are in inches."""
    across = min(columns, panels)
    down = math.ceil(panels / across)
    figure = Figure(figsize=(width * across, height * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    for unused in axes[panels:]:
        unused.remove()
    return figure, list(axes[:panels])


def _label(figure: Figure, axes: list[Axes], below: str, left: str) -> None:
    if len(axes) == 1:
        axes[0].set(xlabel=below, ylabel=left)
    else:
        figure.supxlabel(below, fontsize=9)
        figure.supylabel(left, fontsize=9)
