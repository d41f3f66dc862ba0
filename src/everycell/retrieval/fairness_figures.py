"""Figures of fairness: of lists, over their depth, and of the documents in them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from everycell.engine.render.figure_files import COLOURS, DASHES, HATCHES, INK, MARKERS, style
from everycell.engine.render.marks import (
    check_known,
    check_numbers,
    check_single,
    common_legend,
    rows_by,
)

#: Groups whose documents are drawn: the first two are blue and red.
_GROUP_COLOURS = tuple(COLOURS[index] for index in (0, 4, 2, 3, 1, 5))


def documents_in_lists(
    documents: pd.DataFrame, values: pd.DataFrame, groups: Mapping[str, str]
) -> Figure:
    """Ranked lists as coloured documents, side by side, with values of measures below each."""
    check_numbers(documents, ["rank"])
    check_numbers(values, ["value"])
    check_known(documents, "group", tuple(groups))
    check_single(documents, ["list", "rank"])
    check_single(values, ["list", "measure"])
    outside = ~values["value"].between(0, 1)
    if outside.any():
        raise ValueError(
            f"column 'value': found {values.loc[outside, 'value'].iloc[0]:g}, and a fairness lies "
            "from 0 to 1; correct it."
        )
    lists, bars = rows_by(documents, "list"), rows_by(values, "list")
    if set(lists) != set(bars):
        raise ValueError(
            f"the documents are of the lists {list(lists)} and the values of {list(bars)}; give "
            "both for each list."
        )
    looks = dict(zip(groups, zip(_GROUP_COLOURS, HATCHES, strict=True), strict=False))
    measures, last = list(values["measure"].unique()), int(documents["rank"].max())
    with style():
        figure = Figure(
            figsize=(0.8 + 3.4 * len(lists), 0.9 + 0.42 * last + 0.42 * len(measures)),
            layout="constrained",
        )
        grid = figure.subplots(
            2, len(lists), squeeze=False, height_ratios=[last + 0.5, len(measures)]
        )
        for above, below, (name, rows) in zip(*grid, lists.items(), strict=True):
            for rank, group in rows[["rank", "group"]].itertuples(index=False):
                colour, hatch = looks[group]
                above.barh(rank, 1, color=colour, edgecolor="white", hatch=hatch, height=0.84)
                above.text(-0.03, rank, f"{rank:g}", ha="right", va="center", color=INK)
                # On a plain background, since a hatch would run through the letters.
                above.text(
                    0.5,
                    rank,
                    groups[group],
                    ha="center",
                    va="center",
                    color=INK,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.5},
                )
            above.set(title=name, xlim=(-0.08, 1), ylim=(last + 0.55, 0.45))
            above.axis("off")
            indices = [measures.index(measure) for measure in bars[name]["measure"]]
            drawn = below.barh(indices, bars[name]["value"], color="#888888", height=0.6)
            below.bar_label(drawn, fmt="%.3f", padding=3)
            below.set(xlim=(0, 1.18), ylim=(len(measures) - 0.45, -0.55))
            below.set_xticks([0, 0.5, 1], ["0\nleast fair", "0.5\n", "1\nfair"], fontsize=8)
            below.set_yticks(range(len(measures)), measures, fontsize=8)
            below.tick_params(axis="y", length=0, labelleft=below is grid[1][0])
            below.grid(visible=True, axis="x")
            below.grid(visible=False, axis="y")
    return figure


def fairness_over_depth(frame: pd.DataFrame, *, cutoff: int | None = None) -> Figure:
    """Mean fairness of each system over the cut-off, a row of panels for each query set."""
    check_numbers(frame, ["k", "value"])
    check_single(frame, ["query_set", "system", "measure", "k"])
    sets, measures = frame["query_set"].unique(), frame["measure"].unique()
    systems = list(frame["system"].unique())
    step = max(1, int(frame["k"].max()) // 5)
    with style():
        figure = Figure(
            figsize=(0.5 + 2.7 * len(measures), 1.1 + 2.5 * len(sets)), layout="constrained"
        )
        grid = figure.subplots(len(sets), len(measures), squeeze=False, sharex=True, sharey="row")
        for row, query_set in zip(grid, sets, strict=True):
            for axis, measure in zip(row, measures, strict=True):
                points = frame[(frame["query_set"] == query_set) & (frame["measure"] == measure)]
                if cutoff is not None:
                    axis.axvline(cutoff, color=INK, linestyle=":", linewidth=0.8)
                for system, line in rows_by(points, "system").items():
                    index = systems.index(system)
                    line = line.sort_values("k")
                    axis.plot(
                        line["k"],
                        line["value"],
                        color=COLOURS[index % len(COLOURS)],
                        linestyle=DASHES[index // len(COLOURS) % len(DASHES)],
                        marker=MARKERS[(index + index // len(COLOURS)) % len(MARKERS)],
                        markersize=3.5,
                        # Markers of lines that coincide are drawn beside each other.
                        markevery=(index % step, step),
                        label=system,
                    )
                if axis in grid[0]:
                    axis.set_title(measure)
            row[0].set_ylabel(f"{query_set}\nmean fairness")
        # Long enough for dashes to show beside the marker.
        common_legend(figure, handlelength=3.5)
        figure.supxlabel("cut-off k", fontsize=9)
    return figure


def document_against_list_fairness(frame: pd.DataFrame) -> Figure:
    """Two measures of each system, with the planted values."""
    check_numbers(frame, ["value", "planted"])
    check_single(frame, ["system", "measure"])
    measures = list(frame["measure"].unique())
    if len(measures) != 2:
        raise ValueError(f"column 'measure': found {measures}; two measures are compared.")
    systems = list(frame["system"].unique())
    with style():
        figure = Figure(figsize=(7.2, 1.0 + 0.38 * len(systems)), layout="constrained")
        axis = figure.subplots()
        for index, rows in enumerate(rows_by(frame, "system").values()):
            axis.plot(rows["value"], [index] * len(rows), color="#888888", linewidth=1, zorder=1)
        for measure, colour, marker in zip(measures, COLOURS, MARKERS, strict=False):
            rows = frame[frame["measure"] == measure]
            indices = rows["system"].map(systems.index)
            # One is visible below the other where both are the same.
            size = 7 - 3 * measures.index(measure)
            axis.plot(
                rows["value"],
                indices,
                color=colour,
                marker=marker,
                markersize=size,
                linestyle="",
                label=measure,
            )
        axis.plot(
            frame["planted"],
            frame["system"].map(systems.index),
            linestyle="",
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=INK,
            markeredgewidth=0.8,
            label="planted",
        )
        axis.grid(visible=True, axis="both")
        axis.set_yticks(range(len(systems)), systems, fontsize=7.5)
        axis.set_ylim(len(systems) - 0.4, -0.6)
        axis.set_xlabel("fairness (0: least fair, 1: fair)")
        common_legend(figure)
    return figure
