"""Figures of chapter 5 of heuss2025: shares of cited documents."""

from __future__ import annotations

import textwrap

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from everycell.render.figure_files import TEXT_WIDTH, style
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


def size_bars(points: pd.DataFrame) -> Figure:
    """Distributions over answers (Figures 5.3 and 5.4), one panel each."""
    check_single(points, ["panel", "answerer", "x"])
    panels, answerers = rows_by(points, "panel"), list(rows_by(points, "answerer"))
    width = 0.8 / len(answerers)
    # Groups of bars are equally wide in all panels, but each panel has room for its label.
    counts = [max(6, rows["x"].nunique()) for rows in panels.values()]
    with style():
        figure = Figure(figsize=(TEXT_WIDTH, 2.6), layout="constrained")
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False, width_ratios=counts)[0]
        for axes, (title, rows) in zip(grid, panels.items(), strict=True):
            bars_by_name = rows_by(rows, "answerer")
            for number, name in enumerate(answerers):
                if name in bars_by_name:
                    bars = bars_by_name[name]
                    axes.bar(
                        bars["x"] + width * (number - (len(answerers) - 1) / 2),
                        bars["value"],
                        width,
                        color=COLOURS[number % len(COLOURS)],
                        label=name,
                    )
            axes.set_xlabel(textwrap.fill(title, 18), fontsize=8)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        grid[0].set_ylabel("Share (%)")
        common_legend(figure, handlelength=1.5)
    return figure


def case_bars(points: pd.DataFrame) -> Figure:
    """Cases by kind of forged document (Figures 5.6 and 5.7), one panel per answerer."""
    return bar_panels(
        points.assign(kind=points["kind"].replace(_SHORT)),
        group="kind",
        series="metric",
        panel="answerer",
        value_label="Number of cases",
        decimals=0,
        columns=2,
    )


def estimate_lines(estimated: pd.DataFrame) -> Figure:
    """Planted shares and the estimates of two designs, one panel per openness."""
    return interval_lines(
        estimated.assign(
            panel="Bare words accepted as support: " + estimated["open"],
            memory=estimated["memory"].astype(float),
        ),
        x="memory",
        low="low",
        high="high",
        series="estimate",
        panel="panel",
        x_label="Probability that a statement is remembered",
        value_label="Share of statements (%)",
    )
