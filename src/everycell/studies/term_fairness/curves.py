"""Data for the figures of group fairness: curves by cut-off, and rankings with planted bias."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pandas as pd

from everycell.retrieval.ranker_fairness import most_sensitive

#: Measures and cut-off whose values are published as numbers.
PUBLISHED_MEASURES, CUTOFF = ("NFaiRR", "TExFAIR (with RBDF)"), 10
#: Key columns of a plotted point.
KEYS = ["row", "series", "metric", "x_name", "x"]


def curve_points(curves: pd.DataFrame) -> pd.DataFrame:
    """Points of the mean curves, as cells: columns `KEYS` and `value`."""
    points = curves.rename(columns={"query_set": "row", "system": "series", "measure": "metric"})
    return points.assign(x_name="k", x=points["k"])[[*KEYS, "value"]]


def published_points(points: pd.DataFrame) -> pd.DataFrame:
    """Points whose values are published as numbers."""
    return points[points["metric"].isin(PUBLISHED_MEASURES) & (points["x"] == CUTOFF)]


def sensitivity_points(changes: pd.DataFrame) -> pd.DataFrame:
    """Which measure is the most sensitive, per query set, as cells: `KEYS` and `value`."""
    measures = most_sensitive(changes).rename(columns={"query_set": "row", "measure": "x"})
    measures = measures.assign(series="all rankers", metric="sensitivity to k", x_name="measure")
    return measures[[*KEYS, "value"]]


def recovered_table(means: pd.DataFrame, rankings: Mapping[str, str]) -> pd.DataFrame:
    """Planted and measured means, and the largest difference of any value, one row per cell."""
    return (
        means.assign(ranking=means["system"].map(rankings))
        .rename(columns=dict(zip(("value_planted", "value", "difference"), RECOVERED, strict=True)))
        .melt(
            id_vars=["system", "ranking", "measure"], value_vars=list(RECOVERED), var_name="metric"
        )
    )


#: Metrics of `recovered_table` -> decimals. The difference has enough to show that it is only a
#: rounding error.
RECOVERED = {
    f"planted, k = {CUTOFF}": 4,
    f"measured, k = {CUTOFF}": 4,
    "largest difference": 12,
}


def balance_marks(means: pd.DataFrame) -> pd.DataFrame:
    """Means of the two measures that the figure compares."""
    marks = means[means["measure"].isin(PUBLISHED_MEASURES)].rename(
        columns={"value_planted": "planted"}
    )
    return marks[["system", "measure", "value", "planted"]]


def label_systems(marks: pd.DataFrame, rankings: Mapping[str, str]) -> pd.DataFrame:
    """Marks with wrapped labels that describe the rankings of each system."""
    labels = {
        system: textwrap.fill(f"{system}: {ranking}", 58) for system, ranking in rankings.items()
    }
    return marks.replace({"system": labels})
