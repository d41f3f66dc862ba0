"""Drawings of chapter 6: systems ranked by several judges."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from everycell.engine.render.figure_files import COLOURS, DASHES, MARKERS, style
from everycell.engine.render.marks import (
    check_intervals,
    check_numbers,
    check_single,
    draw_marks,
    rows_by,
)


def ranks_by_judge(ranks: pd.DataFrame, agreement: pd.DataFrame) -> Figure:
    """Rank of each system by each judge, and how far the orders of pairs of judges agree.

    Notes
    -----
    Not in lajewska2025: a figure of ours, beside its Table 6.7.

    Examples
    --------
    >>> ranks = pd.DataFrame({"judge": list("aabb"), "system": list("xyxy"), "rank": [1, 2, 2, 1]})
    >>> pairs = pd.DataFrame({"judges": ["a and b"], "value": -1, "low": -1, "high": 0.5})
    >>> left, right = ranks_by_judge(ranks, pairs).axes
    >>> [text.get_text() for text in left.texts]
    ['x', 'y']
    """
    check_numbers(ranks, ["rank"])
    check_single(ranks, ["judge", "system"])
    check_intervals(agreement)
    check_single(agreement, ["judges"])
    judges = list(ranks["judge"].unique())
    systems = rows_by(ranks, "system")
    pairs = list(agreement["judges"])
    with style():
        figure = Figure(figsize=(8.4, 1.0 + 0.3 * len(systems)), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for number, (system, marks) in enumerate(systems.items()):
            places = marks["judge"].map(judges.index)
            left.plot(
                places,
                marks["rank"],
                color=COLOURS[number % len(COLOURS)],
                linestyle=DASHES[number // len(COLOURS) % len(DASHES)],
                marker=MARKERS[(number + number // len(COLOURS)) % len(MARKERS)],
                markersize=6,
            )
            left.annotate(
                system,
                (places.iloc[-1], marks["rank"].iloc[-1]),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        left.set_xticks(range(len(judges)), judges)
        left.set(xlim=(-0.15, len(judges) - 0.9), ylim=(len(systems) + 0.5, 0.5))
        left.set_yticks(range(1, len(systems) + 1))
        left.set_ylabel("rank of the mean score (1: highest)")
        draw_marks(
            right,
            agreement,
            pd.Series(range(len(pairs))),
            across=True,
            color=COLOURS[0],
            marker=MARKERS[0],
        )
        right.set_yticks(range(len(pairs)), pairs, fontsize=8)
        right.set(
            xlim=(min(-0.02, agreement["low"].min() - 0.05), 1.05),
            ylim=(len(pairs) - 0.5, -0.5),
            xlabel="Kendall's tau of the order,\n95 % interval over topics",
        )
        right.grid(visible=True, axis="x")
        right.grid(visible=False, axis="y")
    return figure
