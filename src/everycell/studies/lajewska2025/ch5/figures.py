"""Drawings of chapter 5: confidence of annotators and their agreement."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from everycell.render.figure_files import COLOURS, MARKERS, style
from everycell.render.marks import check_intervals, check_numbers


def confidence_and_agreement(plotted: pd.DataFrame) -> Figure:
    """Agreement on passages by their annotators' confidence, and by worker."""
    check_numbers(plotted, ["level", "n"])
    check_intervals(plotted)
    parts = dict(iter(plotted.groupby("part")))
    passages, workers = parts["passages"], parts["workers"]
    with style():
        figure = Figure(figsize=(8.4, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        left.vlines(passages["level"], passages["low"], passages["high"], color=COLOURS[0])
        left.scatter(
            passages["level"],
            passages["value"],
            s=12 + 0.2 * passages["n"],
            color=COLOURS[0],
            marker=MARKERS[0],
            zorder=3,
        )
        for _, mark in passages.iterrows():
            left.annotate(
                f"{mark['n']:.0f}",
                (mark["level"], mark["high"]),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=7,
            )
        left.set(
            xlabel="mean confidence of the three annotators",
            ylabel="mean agreement (J)",
            ylim=(-0.04, 1.04),
            title="Passages (number above, 95 % interval)",
        )
        right.scatter(
            workers["level"], workers["value"], s=36, color=COLOURS[4], marker=MARKERS[1], zorder=3
        )
        right.set(xlabel="mean confidence of a worker", title="Workers (means of their passages)")
        for axes in (left, right):
            axes.set_xlim(0.9, 5.1)
            axes.set_xticks(range(1, 6))
    return figure
