"""Drawing of Figure 2.2, outliers by items and by iterations, in chapter 2 of heuss2025."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from everycell.render.figure_files import MARKERS, style
from everycell.render.figures import (
    check_intervals,
    check_known,
    check_single,
    common_legend,
    rows_by,
)
from everycell.render.palette import COLOURS

#: Panel -> label of its axis, which is logarithmic, and its ticks.
_PANELS = {
    "candidates": ("Number of items", (10, 20, 40, 80, 200)),
    "iterations": ("Number of iterations", None),
}
#: Offset of each series along the axis, in points, so that intervals do not hide each other.
_OFFSETS = (-1.5, -0.5, 0.5, 1.5)


def outlier_reductions(points: pd.DataFrame) -> Figure:
    """Relative change of P(u) by number of items and by number of iterations."""
    check_intervals(points)
    check_known(points, "panel", tuple(_PANELS))
    check_single(points, ["panel", "distribution", "x"])
    series = list(rows_by(points, "distribution"))
    with style():
        figure = Figure(figsize=(6.4, 2.9), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (panel, (label, ticks)) in zip(panels, _PANELS.items(), strict=True):
            panel_points = points[points["panel"] == panel]
            for number, name in enumerate(series):
                _draw(axes, panel_points[panel_points["distribution"] == name], number, name)
            axes.set(xlabel=label, ylim=(-103, 6))
            axes.set_xscale("log", base=2)
            ticks = ticks or sorted(panel_points["x"].unique())
            axes.set_xticks(ticks, [str(x) for x in ticks])
            axes.minorticks_off()
        panels[0].set_ylabel("Relative change of P(u) (%)")
        common_legend(figure)
    return figure


def _draw(axes, rows: pd.DataFrame, number: int, name: str) -> None:
    """Draw one series, with an offset along the axis."""
    from matplotlib.transforms import ScaledTranslation

    rows = rows.sort_values("x")
    offset = axes.transData + ScaledTranslation(
        _OFFSETS[number] / 72, 0, axes.figure.dpi_scale_trans
    )
    axes.errorbar(
        rows["x"],
        rows["value"],
        yerr=[rows["value"] - rows["low"], rows["high"] - rows["value"]],
        color=COLOURS[number],
        marker=MARKERS[number],
        markersize=3.5,
        elinewidth=0.8,
        capsize=1.5,
        label=name,
        transform=offset,
    )
    # A series with an offset does not extend the limits of the axes.
    axes.update_datalim(rows[["x", "value"]].to_numpy(dtype=float))
    axes.autoscale_view(scaley=False)
