"""Fairness figures: ranked lists, curves by cut-off, and planted values."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from everycell.render.figure_files import DASHES, HATCHES, MARKERS, TEXT_WIDTH, style
from everycell.render.figures import (
    check_known,
    check_numbers,
    check_single,
    common_legend,
    rows_by,
)
from everycell.render.palette import BLUE, COLOURS, GREEN, GREY, INK, ORANGE, PINK, SKY, VERMILION

#: Colours of the groups of documents; the first two are blue and red.
_GROUP_COLOURS = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY)


def documents_in_lists(
    documents: pd.DataFrame, values: pd.DataFrame, groups: Mapping[str, str]
) -> Figure:
    """Draw ranked lists side by side, documents coloured by group, with measures below."""
    check_numbers(documents, ["rank"])
    check_numbers(values, ["value"])
    check_known(documents, "group", tuple(groups))
    check_single(documents, ["list", "rank"])
    check_single(values, ["list", "measure"])
    outside = ~values["value"].between(0, 1)
    if outside.any():
        raise ValueError(
            f"column 'value': {values.loc[outside, 'value'].iloc[0]:g} is not a fairness value; "
            "it must be between 0 and 1."
        )
    lists, bars = rows_by(documents, "list"), rows_by(values, "list")
    if set(lists) != set(bars):
        raise ValueError(
            f"the documents are in the lists {list(lists)}, but the values are for {list(bars)}; "
            "give both for each list."
        )
    styles = dict(zip(groups, zip(_GROUP_COLOURS, HATCHES, strict=False), strict=False))
    measures, last = list(values["measure"].unique()), int(documents["rank"].max())
    with style():
        figure = Figure(
            figsize=(
                min(0.8 + 3.4 * len(lists), TEXT_WIDTH),
                0.9 + 0.42 * last + 0.42 * len(measures),
            ),
            layout="constrained",
        )
        grid = figure.subplots(
            2, len(lists), squeeze=False, height_ratios=[last + 0.5, len(measures)]
        )
        for list_axis, bar_axis, (name, rows) in zip(*grid, lists.items(), strict=True):
            for rank, group in rows[["rank", "group"]].itertuples(index=False):
                colour, hatch = styles[group]
                list_axis.barh(rank, 1, color=colour, edgecolor="white", hatch=hatch, height=0.84)
                list_axis.text(-0.03, rank, f"{rank:g}", ha="right", va="center", color=INK)
                # A plain background keeps the hatching from crossing the letters.
                list_axis.text(
                    0.5,
                    rank,
                    groups[group],
                    ha="center",
                    va="center",
                    color=INK,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.5},
                )
            list_axis.set(title=name, xlim=(-0.08, 1), ylim=(last + 0.55, 0.45))
            list_axis.axis("off")
            indices = [measures.index(measure) for measure in bars[name]["measure"]]
            container = bar_axis.barh(indices, bars[name]["value"], color=GREY, height=0.6)
            bar_axis.bar_label(container, fmt="%.3f", padding=3)
            bar_axis.set(xlim=(0, 1.18), ylim=(len(measures) - 0.45, -0.55))
            bar_axis.set_xticks([0, 0.5, 1], ["0\nleast fair", "0.5\n", "1\nfair"], fontsize=8)
            bar_axis.set_yticks(range(len(measures)), measures, fontsize=8)
            bar_axis.tick_params(axis="y", length=0, labelleft=bar_axis is grid[1][0])
            bar_axis.grid(visible=True, axis="x")
            bar_axis.grid(visible=False, axis="y")
    return figure


def fairness_over_depth(frame: pd.DataFrame, *, cutoff: int | None = None) -> Figure:
    """Plot mean fairness against the cut-off, with one row of panels per query set."""
    check_numbers(frame, ["k", "value"])
    check_single(frame, ["query_set", "system", "measure", "k"])
    sets, measures = frame["query_set"].unique(), frame["measure"].unique()
    systems = list(frame["system"].unique())
    step = max(1, int(frame["k"].max()) // 5)
    with style():
        figure = Figure(
            figsize=(min(0.5 + 2.7 * len(measures), TEXT_WIDTH), 1.1 + 2.2 * len(sets)),
            layout="constrained",
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
                        # Staggered, so that the markers of coinciding lines remain visible.
                        markevery=(index % step, step),
                        label=system,
                    )
                if axis in grid[0]:
                    axis.set_title(measure)
            row[0].set_ylabel(f"{query_set}\nMean fairness")
        # Long enough for dashes to show on both sides of the marker.
        common_legend(figure, handlelength=3.5)
        figure.supxlabel("Cut-off k", fontsize=9)
    return figure


def document_against_list_fairness(frame: pd.DataFrame) -> Figure:
    """Plot two measures of each system and the planted values."""
    check_numbers(frame, ["value", "planted"])
    check_single(frame, ["system", "measure"])
    measures = list(frame["measure"].unique())
    if len(measures) != 2:
        raise ValueError(f"column 'measure': expected two measures, got {measures}.")
    systems = list(frame["system"].unique())
    with style():
        figure = Figure(figsize=(TEXT_WIDTH, 1.0 + 0.38 * len(systems)), layout="constrained")
        axis = figure.subplots()
        for index, rows in enumerate(rows_by(frame, "system").values()):
            axis.plot(rows["value"], [index] * len(rows), color=GREY, linewidth=1, zorder=1)
        for measure, colour, marker in zip(measures, COLOURS, MARKERS, strict=False):
            rows = frame[frame["measure"] == measure]
            indices = rows["system"].map(systems.index)
            # The second marker is smaller, so that both are visible where they coincide.
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
        axis.set_xlabel("Fairness (0: least fair, 1: fair)")
        common_legend(figure)
    return figure
