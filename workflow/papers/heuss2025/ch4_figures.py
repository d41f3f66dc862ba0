"""Drawings of chapter 4 of heuss2025: attributions of the talent search, and Figure 4.4."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everycell.render.figure_files import HATCHES, MARKERS, TEXT_WIDTH, style
from everycell.render.figures import (
    check_intervals,
    check_numbers,
    check_single,
    common_legend,
    rows_by,
)
from everycell.render.palette import COLOURS, GRID_LINES, INK
from papers.heuss2025.ch4_talent_search import FEATURES

#: Features in the order of the figures, with their short names.
_SHORT = {name: FEATURES[name] for name in ("req", "university", "grades", "skills", "experience")}


def select_attributions(
    attributions: pd.DataFrame, queries: list[str] | None, explainers: list[str] | None = None
) -> pd.DataFrame:
    """Rows of some queries and explainers, with short names of features, in figure order."""
    rows = attributions
    for column, names in (("query", queries), ("explainer", explainers)):
        if names is not None:
            rows = rows[rows[column].isin(names)]
    order = rows["feature"].map(list(_SHORT).index)
    keys = [name for name in rows.columns if name not in ("feature", "value")]
    groups = rows.groupby(keys, sort=False).ngroup()
    rows = rows.assign(feature=rows["feature"].map(_SHORT), group=groups, order=order)
    return rows.sort_values(["group", "order"]).drop(columns=["group", "order"])


def draw_bars(
    points: pd.DataFrame,
    series: Literal["explainer", "candidate"],
    panel: list[str],
    marked: pd.DataFrame | None = None,
    columns: int = 3,
) -> Figure:
    """Horizontal bars of attributions by feature, as in the thesis."""
    check_numbers(points, ["value"])
    check_single(points, [*panel, series, "feature"])
    names = points["rank"].map("Candidate {}".format) if series == "candidate" else points[series]
    titles = points[panel].agg(", ".join, axis=1)
    features = {name: position for position, name in enumerate(points["feature"].unique())}
    points = points.assign(panel=titles, name=names, position=points["feature"].map(features))
    if marked is not None:
        points = points.merge(marked, "left", [*panel, series, "feature"], suffixes=("", "_marked"))
    panels = rows_by(points, "panel")
    height = 0.76 / names.nunique()
    columns = min(columns, len(panels))
    lines = -(-len(panels) // columns)
    with style():
        # Bars are at least 0.08 inches high.
        size = (min(2.5 * columns + 0.4, TEXT_WIDTH), max(2.1, 0.7 + 0.55 * len(features)) * lines)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, (title, rows) in zip(grid, panels.items(), strict=False):
            for number, name in enumerate(sorted(names.unique())):
                bars = rows[rows["name"] == name]
                positions = bars["position"] - 0.38 + height * (number + 0.5)
                _draw(axes, bars, positions, height, number)
            axes.axvline(0, color=INK, linewidth=0.6)
            axes.grid(visible=False, axis="y")
            for position in list(features.values())[1:]:
                axes.axhline(position - 0.5, color=GRID_LINES, linewidth=0.8, zorder=0)
            axes.set_title(title)
            axes.set_yticks(list(features.values()), list(features))
        grid[0].invert_yaxis()
        for unused in grid[len(panels) :]:
            unused.set_axis_off()
        # The lowest panel of each column has tick labels, even above an unused panel.
        for axes in grid[: len(panels)][-columns:]:
            axes.tick_params(labelbottom=True)
        figure.supxlabel("Attribution", fontsize=9)
        common_legend(figure)
    return figure


def _draw(axes: Axes, rows: pd.DataFrame, positions: pd.Series, height: float, number: int) -> None:
    """Draw the bars of one series, with diamonds for Shapley values if there are any."""
    if rows.empty:
        return
    name = rows["name"].iloc[0]
    bar_style = {"color": COLOURS[number], "hatch": HATCHES[number], "edgecolor": "white"}
    axes.barh(positions, rows["value"], height * 0.8, label=name, linewidth=0.5, **bar_style)
    if "value_marked" in rows and rows["value_marked"].notna().any():
        marker_style = {"linestyle": "none", "marker": "D", "markersize": 3.5, "color": INK}
        axes.plot(rows["value_marked"], positions, label=f"{name}, Shapley value", **marker_style)


def checks_figure(points: pd.DataFrame) -> Figure:
    """Measures by size of an explanation, with intervals (Figure 4.4).

    Preservation and deletion have their own panels. The explainers of a size are next to each
    other, since their values are often equal.
    """
    check_intervals(points)
    check_single(points, ["data", "measure", "check", "explainer", "size"])
    rows = list(points.groupby(["measure", "data"], sort=False))
    names, checks, sizes = (
        list(dict.fromkeys(points[key])) for key in ("explainer", "check", "size")
    )
    sizes.sort()
    # Sizes are equally spaced, and a size has 0.8 of the space between two.
    shifts = (np.arange(len(names)) + 0.5) / len(names) - 0.5
    with style():
        figure = Figure(figsize=(TEXT_WIDTH, 1.75 * len(rows) + 0.9), layout="constrained")
        grid = figure.subplots(len(rows), len(checks), sharex=True, sharey="row", squeeze=False)
        for line, ((measure, data), cells) in zip(grid, rows, strict=True):
            for axes, check in zip(line, checks, strict=True):
                curves = rows_by(cells[cells["check"] == check], "explainer")
                for number, name in enumerate(names):
                    if name in curves:
                        curve = curves[name]
                        positions = curve["size"].map(sizes.index) + 0.8 * shifts[number]
                        _draw_checks(axes, curve, positions, name, number)
                axes.grid(visible=False, axis="x")
                for position in range(1, len(sizes)):
                    axes.axvline(position - 0.5, color=GRID_LINES, linewidth=0.5, zorder=0)
                axes.set_xlim(-0.5, len(sizes) - 0.5)
            line[0].set_ylabel(f"{data}\n{measure}", fontsize=8)
        for axes, check in zip(grid[0], checks, strict=True):
            axes.set_title(check.capitalize())
        for axes in grid[-1]:
            axes.set_xticks(range(len(sizes)), list(map(str, sizes)))
        figure.supxlabel("Number of features in an explanation", fontsize=9)
        common_legend(figure)
    return figure


def _draw_checks(
    axes: Axes, curve: pd.DataFrame, positions: pd.Series, name: str, number: int
) -> None:
    distances = [curve["value"] - curve["low"], curve["high"] - curve["value"]]
    axes.errorbar(
        positions,
        curve["value"],
        yerr=distances,
        linestyle="",
        color=COLOURS[number],
        marker=MARKERS[number],
        markersize=3,
        elinewidth=0.8,
        label=name,
    )
