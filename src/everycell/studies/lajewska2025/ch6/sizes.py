"""Tables C.4 and C.5: how many nuggets and clusters the questions have."""

from __future__ import annotations

import pandas as pd

from everycell.rag.grounded.detection import sizes
from everycell.studies.lajewska2025.ch6.systems import FEWEST_NUGGETS

#: Name in `sizes` -> published column.
_NUGGETS = {
    "avg": "Nuggets Avg",
    "med": "Nuggets Med",
    "max": "Nuggets Max",
    "length": "Avg len (chars)",
}
_CLUSTERS = {
    "avg": "Clusters Avg",
    "med": "Clusters Med",
    "max": "Clusters Max",
    "length": "Avg len (nuggets per cluster)",
}


def enough_nuggets(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Nuggets of questions that have two or more, which the others are left out of (L1704)."""
    counts = nuggets.groupby(["detection", "input", "topic"])["nugget"].transform("size")
    return nuggets[counts >= FEWEST_NUGGETS]


def nugget_sizes(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Table C.4.

    Examples
    --------
    >>> nuggets = pd.DataFrame({"detection": "Gold", "input": "relevant", "topic": "1",
    ...     "nugget": [1, 2], "text": ["owl", "mouse"]})
    >>> nugget_sizes(nuggets)["value"].tolist()
    [2.0, 2.0, 2.0, 4.0]
    """
    rows = []
    for (detection, kind), own in enough_nuggets(nuggets).groupby(["detection", "input"]):
        summary = sizes(own.groupby("topic").size(), own["text"].str.len())
        rows += [(kind, detection, _NUGGETS[name], value) for name, value in summary.items()]
    return pd.DataFrame(rows, columns=["input", "nugget_detection", "metric", "value"])


def cluster_sizes(nuggets: pd.DataFrame, clusters: pd.DataFrame) -> pd.DataFrame:
    """Table C.5.

    Examples
    --------
    >>> keys = {"detection": "Gold", "input": "relevant", "topic": "1", "nugget": [1, 2]}
    >>> result = cluster_sizes(pd.DataFrame(keys | {"text": "owl"}),
    ...     pd.DataFrame(keys | {"clustering": "LSA", "cluster": [0, 0]}))
    >>> result["value"].tolist()
    [1.0, 1.0, 1.0, 2.0]
    """
    keys = ["detection", "input", "topic"]
    own_clusters = clusters.merge(enough_nuggets(nuggets)[keys].drop_duplicates(), on=keys)
    rows = []
    for (detection, kind, clustering), own in own_clusters.groupby(
        ["detection", "input", "clustering"]
    ):
        summary = sizes(
            own.groupby("topic")["cluster"].nunique(), own.groupby(["topic", "cluster"]).size()
        )
        rows += [
            (kind, detection, clustering, _CLUSTERS[name], value) for name, value in summary.items()
        ]
    return pd.DataFrame(
        rows, columns=["input", "nugget_detection", "clustering", "metric", "value"]
    )


def half_shares(nuggets: pd.DataFrame, clusters: pd.DataFrame) -> pd.DataFrame:
    """How near the clusters of a method come to half of the nuggets (L2720)."""
    keys = ["detection", "input", "topic"]
    counts = nuggets.groupby(keys).size().rename("nuggets").reset_index()
    counts = counts[counts["nuggets"] >= 4]
    counted = (
        clusters.groupby([*keys, "clustering"])["cluster"].nunique().reset_index().merge(counts)
    )
    rows = []
    for (detection, kind, name), own in counted.groupby(["detection", "input", "clustering"]):
        half, mean = (own["nuggets"] // 2).mean(), own["cluster"].mean()
        summary = {
            "half of the nuggets": half,
            "clusters": mean,
            "clusters of half": mean / half,
            "questions": len(own),
        }
        rows += [(kind, detection, name, metric, float(value)) for metric, value in summary.items()]
    return pd.DataFrame(
        rows, columns=["input", "nugget_detection", "clustering", "metric", "value"]
    )
