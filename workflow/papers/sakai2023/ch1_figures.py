"""Drawing of Figure 1: weights of nuggets by position."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from everycell.render.figure_files import MARKERS, style
from everycell.render.figures import rows_by
from everycell.render.palette import COLOURS, INK


def slope(points: pd.DataFrame, budget: int) -> Figure:
    """Linear decay of the weight up to the reading budget, with the films of each system on it."""
    with style():
        figure = Figure(figsize=(5.2, 2.6), layout="constrained")
        axis = figure.subplots()
        axis.plot([1, budget + 1], [1, 0], color=INK, linewidth=0.8, zorder=1)
        for number, (system, films) in enumerate(rows_by(points, "system").items()):
            axis.scatter(
                films["words"],
                films["value"],
                color=COLOURS[number],
                marker=MARKERS[number],
                s=22,
                label=system,
                zorder=2,
            )
        axis.set(
            xlabel="Words of the conversation up to the film",
            ylabel="Weight of the film",
            xlim=(0, budget + 1),
            ylim=(0, 1.02),
        )
        axis.legend(fontsize=8)
    return figure
