"""Figures of chapter 5 of abolghasemi2026."""

from __future__ import annotations

from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from everycell.render.figures import bar_panels, interval_lines
from papers.abolghasemi2026.ch5_comparisons import NO_CITATION

_lines_around_0 = partial(interval_lines, low="low", high="high", reference=0)


def citation_bars(cells: pd.DataFrame) -> Figure:
    """Figure 5.5: panels by generator and data set, groups by authors, bars by mode."""
    generators, authors = zip(*(name.split(" rel=") for name in cells["series"]), strict=True)
    panels = [", ".join(pair) for pair in zip(generators, cells["row"], strict=True)]
    return bar_panels(
        cells.assign(
            panel=panels,
            group=["relevant: " + name.replace(" nonrel=", "\nother: ") for name in authors],
            value=cells["value"].astype(float),
        ),
        group="group",
        series="x",
        panel="panel",
        group_label="Authors of relevant and of other documents",
        value_label="Cited documents per answer",
    )


def bias_lines(bias: pd.DataFrame) -> tuple[pd.DataFrame, Figure]:
    """Measured and planted bias of controls by preference, for relevant documents by people."""
    # The other pairs of authors would show the same.
    shown_rows = bias[(bias["relevant_author"] == "Human") & (bias["nonrelevant_author"] == "LLM")]
    planted = shown_rows.assign(
        **dict.fromkeys(["measured", "low", "high"], shown_rows["expected"])
    )
    lines = pd.concat([shown_rows.assign(series="measured"), planted.assign(series="planted")])
    lines = lines.rename(columns={"preference": "strength"})
    figure = _lines_around_0(
        lines,
        x="strength",
        series="series",
        panel="metric",
        value="measured",
        x_label="planted preference for [Human] (log-odds)",
        value_label="CAB, points",
    )
    return lines[["metric", "series", "strength", "measured", "low", "high"]], figure


def depth_lines(rows: pd.DataFrame) -> tuple[pd.DataFrame, Figure]:
    """Figure 5.9: sensitivity and bias by number of documents, with intervals."""
    by_data = [part for _, part in rows.groupby("dataset", sort=False)]
    cells = pd.concat(by_data)[["dataset", "generator", "k", "metric", "value", "low", "high"]]
    # Values without citations are in the file but cannot be drawn.
    points = cells[cells["value"] != NO_CITATION].astype({"value": float, "k": int})
    prefix = points["dataset"] + ": " if points["dataset"].nunique() > 1 else ""
    figure = _lines_around_0(
        points.assign(panel=prefix + points["metric"]),
        x="k",
        series="generator",
        panel="panel",
        x_label="documents of a prompt",
        value_label="points",
    )
    return cells, figure
