"""Figures of chapter 2 of abolghasemi2026: interpolation of systems, and query lengths."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everycell.render.figure_files import MARKERS, TEXT_WIDTH, style
from everycell.render.figures import (
    check_intervals,
    check_known,
    check_numbers,
    check_single,
    common_legend,
    draw_marks,
    rows_by,
)
from everycell.render.palette import BLUE, COLOURS, GREEN, GREY, INK, ORANGE

#: Series of the interpolation figures -> its name in the legend, colour and line style.
_ORACLES = {
    "oracle": ("oracle: best weight for each query", ORANGE, "-"),
    "noise oracle": (
        "noise oracle: random second scores (our control)",
        GREEN,
        "--",
    ),
}
_CURVE_PANEL = ["first", "second", "metric"]


def interpolation_curves(frame: pd.DataFrame) -> Figure:
    """Effectiveness of two interpolated systems by weight, with the oracle and our control."""
    check_numbers(frame, ["value"])
    check_known(frame, "series", ("curve", *_ORACLES))
    points = frame[frame["series"] == "curve"]
    check_numbers(points, ["alpha"])
    weights = points["alpha"].astype(float)
    if not weights.between(0, 1).all():
        raise ValueError(
            f"column 'alpha': got {weights[~weights.between(0, 1)].iloc[0]:g}, expected a weight "
            "from 0 to 1."
        )
    alpha = frame["alpha"].where(frame["series"] == "curve", 0)
    check_single(frame.assign(alpha=alpha), [*_CURVE_PANEL, "task", "series", "alpha"])
    tasks = frame["task"].unique()
    panel_rows = frame[_CURVE_PANEL].drop_duplicates()
    panels = dict(list(frame.groupby([*_CURVE_PANEL, "task"], sort=False)))
    with style():
        figure = Figure(
            figsize=(
                min(max(4.0, 1.75 * len(tasks) + 0.6), TEXT_WIDTH),
                1.65 * len(panel_rows) + 0.9,
            ),
            layout="constrained",
        )
        grid = figure.subplots(len(panel_rows), len(tasks), squeeze=False)
        shared_axes: dict[tuple[str, str], Axes] = {}
        for row, (first, second, metric) in zip(
            grid, panel_rows.itertuples(index=False), strict=True
        ):
            for axis, task in zip(row, tasks, strict=True):
                if (first, second, metric, task) not in panels:
                    axis.remove()
                    continue
                if (metric, task) in shared_axes:
                    axis.sharey(shared_axes[metric, task])
                shared_axes[metric, task] = axis
                _draw_curve(axis, panels[first, second, metric, task])
                axis.set_xticks([0, 0.5, 1], ["0", "0.5", "1"], fontsize=7)
                axis.tick_params(axis="y", labelsize=7)
                if axis in grid[0]:
                    axis.set_title(task, fontsize=8)
                if axis is row[0]:
                    axis.set_ylabel(f"{first} + {second}\n{metric}")
        common_legend(figure)
        figure.supxlabel(
            "Weight α of the first system (0: only the second system, 1: only the first)",
            fontsize=9,
        )
    return figure


def _draw_curve(axis: Axes, rows: pd.DataFrame) -> None:
    points = rows[rows["series"] == "curve"].astype({"alpha": float}).sort_values("alpha")
    if not points.empty:
        best = points[points["value"] >= points["value"].max() - 1e-12].iloc[0]
        axis.plot(
            points["alpha"],
            points["value"],
            color=BLUE,
            marker="o",
            markersize=3,
            label="one weight for all queries",
        )
        axis.plot(
            best["alpha"],
            best["value"],
            linestyle="",
            marker="o",
            markersize=8,
            markerfacecolor="none",
            markeredgecolor=INK,
            label="the best of these",
        )
    for name, (label, colour, dashes) in _ORACLES.items():
        for level in rows.loc[rows["series"] == name, "value"]:
            axis.axhline(level, color=colour, linestyle=dashes, label=label)


def short_against_long(frame: pd.DataFrame) -> Figure:
    """Effectiveness on two kinds of queries over the same documents, with intervals.

    This figure is not in abolghasemi2026. It tests the claim of chapter 2 that contextual term
    weights help long queries less than short ones.
    """
    check_intervals(frame)
    check_single(frame, ["measure", "system", "queries"])
    kinds = list(frame["queries"].unique())
    if len(kinds) != 2:
        raise ValueError(f"column 'queries': expected two kinds of queries, got {kinds}.")
    systems = list(frame["system"].unique())
    panels = rows_by(frame, "measure")
    with style():
        figure = Figure(
            figsize=(min(1.2 + 2.9 * len(panels), TEXT_WIDTH), 0.9 + 0.38 * len(systems)),
            layout="constrained",
        )
        axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for axis, (name, rows) in zip(axes, panels.items(), strict=True):
            # Shift the two marks apart, so that neither interval hides the other.
            shift = rows["queries"].map(kinds.index) * 0.26 - 0.13
            positioned = rows.assign(position=rows["system"].map(systems.index) + shift)
            for pair in rows_by(positioned, "system").values():
                axis.plot(pair["value"], pair["position"], color=GREY, linewidth=1, zorder=1)
            for kind, colour, marker in zip(kinds, COLOURS, MARKERS, strict=False):
                marks = positioned[positioned["queries"] == kind]
                draw_marks(
                    axis,
                    marks,
                    marks["position"],
                    across=True,
                    color=colour,
                    marker=marker,
                    label=str(kind),
                )
            axis.grid(visible=True, axis="both")
            axis.set_xlabel(name)
            axis.locator_params(axis="x", nbins=5)
        axes[0].set_yticks(range(len(systems)), systems)
        axes[0].set_ylim(len(systems) - 0.5, -0.5)
        common_legend(figure)
    return figure


def oracle_gains(frame: pd.DataFrame) -> Figure:
    """Gain of a combination over its first system: tuned, oracle and noise oracle.

    This figure is not in abolghasemi2026; it is a control for Table 2.4. The noise oracle gains
    only because the weight of each query is chosen with the relevance judgements.
    """
    check_intervals(frame)
    labels = {"tuned": "one weight, tuned on other queries"}
    labels |= {name: label for name, (label, _, _) in _ORACLES.items()}
    check_known(frame, "series", tuple(labels))
    check_single(frame, ["metric", "combination", "task", "series"])
    metrics, across = frame["metric"].unique(), frame["combination"].unique()
    tasks = list(frame["task"].unique())
    with style():
        figure = Figure(
            figsize=(min(0.8 + 3.2 * len(across), TEXT_WIDTH), 0.9 + 2.1 * len(metrics)),
            layout="constrained",
        )
        grid = figure.subplots(len(metrics), len(across), squeeze=False, sharex=True, sharey="row")
        for row, metric in zip(grid, metrics, strict=True):
            for axis, combination in zip(row, across, strict=True):
                rows = frame[(frame["metric"] == metric) & (frame["combination"] == combination)]
                axis.axhline(0, color=INK, linewidth=0.8)
                for (name, label), shift, colour, marker in zip(
                    labels.items(), (-0.22, 0, 0.22), COLOURS, MARKERS, strict=False
                ):
                    marks = rows[rows["series"] == name]
                    draw_marks(
                        axis,
                        marks,
                        marks["task"].map(tasks.index) + shift,
                        across=False,
                        color=colour,
                        marker=marker,
                        label=label,
                    )
                axis.set_xticks(
                    range(len(tasks)), [task.replace(" ", "\n") for task in tasks], fontsize=7.5
                )
                axis.set_xlim(-0.5, len(tasks) - 0.5)
                if axis in grid[0]:
                    axis.set_title(combination)
            row[0].set_ylabel(f"Gain in {metric}")
        common_legend(figure)
    return figure
