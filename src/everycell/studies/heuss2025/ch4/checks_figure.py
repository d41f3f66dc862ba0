"""Drawing of Figure 4.4."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from everycell.engine.render.figure_files import COLOURS, DASHES, MARKERS, style
from everycell.engine.render.marks import check_intervals, check_single, common_legend, rows_by


def checks_figure(points: pd.DataFrame) -> Figure:
    r"""Curves over the size of an explanation, with intervals (Figure 4.4).

    Examples
    --------
    >>> points = pd.DataFrame({"data": "LTR", "measure": "Kendall's tau", "check": "deletion",
    ...     "explainer": "Random", "size": [1, 3], "value": 0.5, "low": 0.4, "high": 0.6})
    >>> [axes.get_title() for axes in checks_figure(points).axes]
    ['LTR\ndeletion']
    """
    check_intervals(points)
    check_single(points, ["data", "measure", "check", "explainer", "size"])
    measures = rows_by(points, "measure")
    columns = list(dict.fromkeys(zip(points["data"], points["check"], strict=True)))
    names = list(dict.fromkeys(points["explainer"]))
    with style():
        figure = Figure(
            figsize=(2 * len(columns) + 0.6, 2.3 * len(measures) + 0.6), layout="constrained"
        )
        grid = figure.subplots(
            len(measures), len(columns), sharex=True, sharey="row", squeeze=False
        )
        for line, (measure, rows) in zip(grid, measures.items(), strict=True):
            for axes, (data, check) in zip(line, columns, strict=True):
                own = rows[(rows["data"] == data) & (rows["check"] == check)]
                for explainer, curve in rows_by(own, "explainer").items():
                    _draw(axes, curve.sort_values("size"), explainer, names.index(explainer))
                axes.set_title(f"{data}\n{check}", fontsize=8)
            line[0].set_ylabel(measure)
        figure.supxlabel("Features of an explanation", fontsize=9)
        common_legend(figure)
    return figure


def _draw(axes, curve: pd.DataFrame, name: str, number: int) -> None:
    colour = COLOURS[number % len(COLOURS)]
    axes.plot(
        curve["size"],
        curve["value"],
        color=colour,
        marker=MARKERS[number % len(MARKERS)],
        markersize=3,
        linestyle=DASHES[number // len(COLOURS)],
        linewidth=1.1,
        label=name,
    )
    axes.fill_between(curve["size"], curve["low"], curve["high"], color=colour, alpha=0.1, lw=0)
    axes.set_xticks(np.unique(curve["size"]))
