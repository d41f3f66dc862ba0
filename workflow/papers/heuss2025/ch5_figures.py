"""Figures of chapter 5 of heuss2025: shares of cited documents."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from everycell.render.figure_files import MARKERS, style
from everycell.render.figures import (
    bar_panels,
    check_single,
    common_legend,
    interval_lines,
    rows_by,
)
from everycell.render.palette import COLOURS

#: Kinds of forged documents, broken into two lines.
_SHORT = {
    "relevant, not cited": "relevant,\nnot cited",
    "cited for something else": "cited for\nothers",
}


def size_lines(points: pd.DataFrame) -> Figure:
    """Distributions over answers (Figures 5.3 and 5.4), one panel each."""
    check_single(points, ["panel", "answerer", "x"])
    panels = rows_by(points, "panel")
    with style():
        figure = Figure(figsize=(2.4 * len(panels) + 0.4, 2.6), layout="constrained")
        grid = np.ravel(figure.subplots(1, len(panels), sharey=True))
        for axes, (title, rows) in zip(grid, panels.items(), strict=True):
            for number, (name, line) in enumerate(rows_by(rows, "answerer").items()):
                axes.plot(
                    line["x"],
                    line["value"],
                    color=COLOURS[number % len(COLOURS)],
                    marker=MARKERS[number % len(MARKERS)],
                    markersize=3,
                    linewidth=1.1,
                    label=name,
                )
            axes.set_title(title, fontsize=8)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        grid[0].set_ylabel("%")
        grid[0].set_ylim(bottom=0)
        common_legend(figure)
    return figure


def case_bars(points: pd.DataFrame) -> Figure:
    """Cases by kind of forged document (Figures 5.6 and 5.7), one panel per answerer."""
    return bar_panels(
        points.assign(kind=points["kind"].replace(_SHORT)),
        group="kind",
        series="metric",
        panel="answerer",
        value_label="Cases",
        decimals=0,
        columns=2,
    )


def estimate_lines(estimated: pd.DataFrame) -> Figure:
    """Planted shares and the estimates of two designs, one panel per openness."""
    return interval_lines(
        estimated.assign(
            panel="bare words accepted as support: " + estimated["open"],
            memory=estimated["memory"].astype(float),
        ),
        x="memory",
        low="low",
        high="high",
        series="estimate",
        panel="panel",
        x_label="Probability that a statement is remembered",
        value_label="% of statements",
    )
