"""Drawing of Figure 4.4."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everycell.render.figure_files import COLOURS, DASHES, MARKERS, style
from everycell.render.marks import check_intervals, check_single, common_legend, rows_by


def checks_figure(points: pd.DataFrame) -> Figure:
    """Measures by size of an explanation, with intervals (Figure 4.4).

    Each explainer has its own panel, since curves overlap. The first explainer is drawn in grey in
    the other panels, as a reference.
    """
    check_intervals(points)
    check_single(points, ["data", "measure", "check", "explainer", "size"])
    rows = list(points.groupby(["measure", "data"], sort=False))
    names, checks = (list(dict.fromkeys(points[key])) for key in ("explainer", "check"))
    with style():
        figure = Figure(
            figsize=(1.2 * len(names) + 0.8, 1.7 * len(rows) + 0.7), layout="constrained"
        )
        grid = figure.subplots(len(rows), len(names), sharex=True, sharey="row", squeeze=False)
        for line, ((measure, data), cells) in zip(grid, rows, strict=True):
            for axes, name in zip(line, names, strict=True):
                if name not in set(cells["explainer"]):
                    axes.text(0.5, 0.5, "not applicable", transform=axes.transAxes, ha="center")
                for number, check in enumerate(checks):
                    rows_of_check = cells[cells["check"] == check].sort_values("size")
                    curves = rows_by(rows_of_check, "explainer")
                    if name in curves:
                        if name != names[0]:
                            _draw_reference(axes, curves[names[0]], f"{names[0]}, {check}", number)
                        _draw(axes, curves[name], check, number)
            line[0].set_ylabel(f"{data}\n{measure}", fontsize=7.5)
        for axes, name in zip(grid[0], names, strict=True):
            axes.set_title(name)
        figure.supxlabel("Features of an explanation", fontsize=9)
        common_legend(figure)
    return figure


def _draw_reference(axes: Axes, curve: pd.DataFrame, label: str, number: int) -> None:
    line_style = {"color": "#888888", "linestyle": DASHES[number], "linewidth": 0.9}
    axes.plot(curve["size"], curve["value"], label=label, **line_style)


def _draw(axes: Axes, curve: pd.DataFrame, check: str, number: int) -> None:
    line_style = {
        "color": COLOURS[number],
        "marker": MARKERS[number],
        "linestyle": DASHES[number],
    }
    axes.plot(curve["size"], curve["value"], markersize=3, linewidth=1.1, label=check, **line_style)
    axes.fill_between(
        curve["size"], curve["low"], curve["high"], color=COLOURS[number], alpha=0.2, lw=0
    )
    axes.set_xticks(np.unique(curve["size"]))
