"""Figures 3.4 and 3.5: estimators of satisfaction while dissatisfied samples are added."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from everycell.render.panels import interval_lines
from everycell.studies.abolghasemi2026.ch3.answers import ESTIMATOR, WITH
from everycell.studies.abolghasemi2026.ch3.estimators import baseline_names

#: Measures of the two figures, with their axis labels.
FIGURES = {
    "figure_3_4": {"Acc": "Accuracy", "F1": "Macro F1"},
    "figure_3_5": {"recall of dissatisfaction": "Recall of dissatisfaction"},
}


def growing_share_figure(points: pd.DataFrame, titles: dict[str, str]) -> Figure:
    """Lines of all estimators except the baselines, one panel per measure and benchmark."""
    points = points[~points["model"].str.startswith(baseline_names())]
    panels = points["metric"].map(titles)
    if points["benchmark"].nunique() > 1:
        panels = points["benchmark"] + ": " + panels
    augmented = points["model"].str.endswith(WITH)
    return interval_lines(
        points.assign(
            panel=panels,
            series=points["model"].where(augmented, points["model"] + ", " + points["setup"]),
        ),
        x="percent",
        low="low",
        high="high",
        series="series",
        panel="panel",
        x_label="Share of dissatisfied samples (percent)",
        value_label="Percent",
        legend_above=True,
    )


def plotted_values(points: pd.DataFrame) -> pd.DataFrame:
    """Values of a figure, one per row: mean, lower and upper bound of each point."""
    plotted = points.rename(columns={"value": "mean"}).melt(
        id_vars=[*ESTIMATOR, "metric", "percent"],
        value_vars=["mean", "low", "high"],
        var_name="end",
    )
    return plotted.assign(percent=plotted["percent"].map(lambda share: f"{share:.4g}"))
