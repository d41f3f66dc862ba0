"""Figures of chapter 3 of heuss2025: crossings, utility against fairness, densities of scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import norm

from everycell.render.figure_files import DASHES, MARKERS, style
from everycell.render.figures import check_intervals, check_single, common_legend, rows_by
from everycell.render.palette import COLOURS, GREEN, VERMILION

#: Colours that are safe for colour-blind readers, instead of the green and red of the thesis.
_GROUPS = {True: ("protected", GREEN, "-"), False: ("not protected", VERMILION, "--")}


def crossing_figure(points: pd.DataFrame) -> Figure:
    """Number of documents that could swap with each rank (Figure 3.2)."""
    check_intervals(points)
    check_single(points, ["ranker", "alpha", "rank"])
    with style():
        figure = Figure(figsize=(6.4, 2.8), layout="constrained")
        alphas = list(rows_by(points, "alpha"))
        panels = np.atleast_1d(figure.subplots(1, len(alphas), sharey=True))
        for axes, alpha in zip(panels, alphas, strict=True):
            alpha_points = points[points["alpha"] == alpha]
            for number, (name, rows) in enumerate(rows_by(alpha_points, "ranker").items()):
                line_style = {"color": COLOURS[number], "linestyle": DASHES[number]}
                axes.plot(rows["rank"], rows["value"], label=name, **line_style)
                axes.fill_between(
                    rows["rank"],
                    rows["low"],
                    rows["high"],
                    color=COLOURS[number],
                    alpha=0.15,
                    linewidth=0,
                )
            unit = "standard deviation" if alpha == "1" else "standard deviations"
            axes.set(title=f"Within {alpha} {unit}", xlabel="Rank")
        panels[0].set_ylabel("Documents to swap with")
        panels[0].set_ylim(bottom=0)
        common_legend(figure)
    return figure


def trade_off_figure(points: pd.DataFrame) -> Figure:
    """Utility against fairness, one curve per method (Figures 3.3, 3.4 and 3.5)."""
    check_single(points, ["panel", "method", "alpha"])
    panels = rows_by(points, "panel")
    methods = list(rows_by(points, "method"))
    lines = -(-len(panels) // 2)
    with style():
        figure = Figure(figsize=(6.4, 0.5 + 2.5 * lines), layout="constrained")
        grid = np.ravel(figure.subplots(lines, min(2, len(panels)), squeeze=False))
        for axes, (name, rows) in zip(grid, panels.items(), strict=False):
            for number, method in enumerate(methods):
                curve = rows[rows["method"] == method].sort_values("alpha")
                axes.plot(
                    curve["fair"],
                    curve["value"],
                    color=COLOURS[number],
                    marker=MARKERS[number],
                    markersize=3,
                    linestyle=DASHES[number % len(DASHES)],
                    linewidth=1.1,
                    label=method,
                )
            first = rows.iloc[0]
            axes.set(title=name, xlabel=first["fairness"], ylabel=first["utility"])
        common_legend(figure)
    return figure


def control_figure(points: pd.DataFrame) -> Figure:
    """Measures by strength, one panel per method (Figure 3.6)."""
    check_single(points, ["method", "metric", "alpha"])
    methods = rows_by(points, "method")
    with style():
        figure = Figure(figsize=(6.4, 2.7), layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(methods), sharey=True))
        for axes, (name, rows) in zip(panels, methods.items(), strict=True):
            for number, (metric, curve) in enumerate(rows_by(rows, "metric").items()):
                curve = curve.sort_values("alpha")
                axes.plot(
                    curve["alpha"],
                    curve["value"],
                    color=COLOURS[number],
                    marker=MARKERS[number],
                    markersize=2.5,
                    linestyle=DASHES[number % len(DASHES)],
                    linewidth=1.1,
                    label=metric,
                )
            axes.set(title=name, xlabel="α")
        panels[0].set_ylabel("Mean over queries")
        common_legend(figure)
    return figure


def density_figure(points: pd.DataFrame) -> Figure:
    """Score distributions of top documents, before and after PUFR (Figure 3.7)."""
    check_single(points, ["list", "when", "document"])
    lists = rows_by(points, "list")
    with style():
        figure = Figure(figsize=(6.4, 0.5 + 2.2 * len(lists)), layout="constrained")
        grid = figure.subplots(len(lists), 2, sharex="row", sharey="row", squeeze=False)
        for line, (name, rows) in zip(grid, lists.items(), strict=True):
            for axes, when in zip(line, ("before", "after"), strict=True):
                _draw_densities(axes, rows[rows["when"] == when])
                axes.set(title=f"{name} scores (query {rows['query'].iloc[0]}), {when}", yticks=[])
                axes.title.set_fontsize(8)
                axes.set_xlabel("Score")
            line[0].set_ylabel("Density")
        common_legend(figure)
    return figure


def _draw_densities(axes, rows: pd.DataFrame) -> None:
    """Draw one density per document, with a label above it."""
    highest = norm.pdf(0) / rows["deviation"].min()
    for number, row in enumerate(rows.itertuples()):
        label, colour, dash = _GROUPS[bool(row.protected)]
        reach = np.linspace(row.mean - 3 * row.deviation, row.mean + 3 * row.deviation, 121)
        height = norm.pdf(reach, row.mean, row.deviation)
        axes.plot(reach, height, color=colour, linestyle=dash, linewidth=1.1, label=label)
        # Labels have different heights, so that they do not overlap.
        position = (row.mean, highest * (1.06 + 0.17 * number))
        axes.annotate(row.document, position, fontsize=7, ha="center", color=colour)
    axes.set_ylim(0, 2.0 * highest)


def panel_points(
    measured: Mapping[str, pd.DataFrame], methods: list[str], utility: str, fairness: str
) -> pd.DataFrame:
    """Means of two measures by method and strength, for `trade_off_figure`."""
    rows = []
    for panel, frame in measured.items():
        means = frame.groupby(["method", "alpha"])[[utility, fairness]].mean()
        start = means.loc["UNFAIR"]
        for method in methods:
            curve = pd.concat([start, means.loc[method]])
            rows += [
                (panel, utility, fairness, method, alpha, *values)
                for alpha, values in zip(curve.index, curve.to_numpy(), strict=True)
            ]
    columns = ["panel", "utility", "fairness", "method", "alpha", "value", "fair"]
    return pd.DataFrame(rows, columns=columns)
