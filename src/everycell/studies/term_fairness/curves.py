"""Shapes of the figures on group fairness: over the depth of rankings, and of planted ones."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pandas as pd

from everycell.retrieval.fairness_curves import most_sensitive

#: Published in numbers: these measures at this cut-off.
PRINTED, CUTOFF = ("NFaiRR", "TExFAIR (with RBDF)"), 10
#: Key columns of a plotted point.
KEYS = ["row", "series", "metric", "x_name", "x"]


def curve_points(curves: pd.DataFrame) -> pd.DataFrame:
    """Points of the mean curves, as cells: columns `KEYS` and `value`."""
    points = curves.rename(columns={"query_set": "row", "system": "series", "measure": "metric"})
    return points.assign(x_name="k", x=points["k"])[[*KEYS, "value"]]


def printed_points(points: pd.DataFrame) -> pd.DataFrame:
    """Points that are published in numbers."""
    return points[points["metric"].isin(PRINTED) & (points["x"] == CUTOFF)]


def sensitivity_points(changes: pd.DataFrame) -> pd.DataFrame:
    """Which measure changes most in each query set, as cells: columns `KEYS` and `value`."""
    measures = most_sensitive(changes).rename(columns={"query_set": "row", "measure": "x"})
    measures = measures.assign(series="all rankers", metric="sensitivity to k", x_name="measure")
    return measures[[*KEYS, "value"]]


def recovered_table(means: pd.DataFrame, rankings: Mapping[str, str]) -> pd.DataFrame:
    """Planted and measured means, and their largest difference, a row per cell."""
    return (
        means.assign(ranking=means["system"].map(rankings))
        .rename(columns=dict(zip(("value_planted", "value", "difference"), RECOVERED, strict=True)))
        .melt(
            id_vars=["system", "ranking", "measure"], value_vars=list(RECOVERED), var_name="metric"
        )
    )


#: Columns of that table -> decimals. The difference has as many as show that it is nothing but
#: rounding.
RECOVERED = {
    f"planted, k = {CUTOFF}": 4,
    f"measured, k = {CUTOFF}": 4,
    "largest difference": 12,
}


def balance_marks(means: pd.DataFrame) -> pd.DataFrame:
    """Of the same means, those of the two measures that the figure sets against each other."""
    marks = means[means["measure"].isin(PRINTED)].rename(columns={"value_planted": "planted"})
    return marks[["system", "measure", "value", "planted"]]


def label_systems(marks: pd.DataFrame, rankings: Mapping[str, str]) -> pd.DataFrame:
    """The marks with what each system's rankings are, in lines that fit beside the axis."""
    labels = {
        system: textwrap.fill(f"{system}: {ranking}", 58) for system, ranking in rankings.items()
    }
    return marks.replace({"system": labels})
