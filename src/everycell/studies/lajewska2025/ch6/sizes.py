"""Tables C.4 and C.5: nuggets and clusters per question."""

from __future__ import annotations

import pandas as pd

from everycell.rag.grounded.detection import size_statistics
from everycell.studies.lajewska2025.ch6.systems import MIN_NUGGETS

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


def drop_sparse_topics(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Drop questions with fewer than two nuggets, as the thesis does (L1704)."""
    counts = nuggets.groupby(["detection", "input", "topic"])["nugget"].transform("size")
    return nuggets[counts >= MIN_NUGGETS]


def nugget_sizes(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Table C.4: nuggets per question, and their lengths."""
    rows = []
    for (detection, kind), group in drop_sparse_topics(nuggets).groupby(["detection", "input"]):
        summary = size_statistics(group.groupby("topic").size(), group["text"].str.len())
        rows += [(kind, detection, _NUGGETS[name], value) for name, value in summary.items()]
    return pd.DataFrame(rows, columns=["input", "nugget_detection", "metric", "value"])


def cluster_sizes(nuggets: pd.DataFrame, clusters: pd.DataFrame) -> pd.DataFrame:
    """Table C.5: clusters per question, and nuggets per cluster."""
    keys = ["detection", "input", "topic"]
    dense_clusters = clusters.merge(drop_sparse_topics(nuggets)[keys].drop_duplicates(), on=keys)
    rows = []
    for (detection, kind, clustering), group in dense_clusters.groupby(
        ["detection", "input", "clustering"]
    ):
        summary = size_statistics(
            group.groupby("topic")["cluster"].nunique(), group.groupby(["topic", "cluster"]).size()
        )
        rows += [
            (kind, detection, clustering, _CLUSTERS[name], value) for name, value in summary.items()
        ]
    return pd.DataFrame(
        rows, columns=["input", "nugget_detection", "clustering", "metric", "value"]
    )


def half_shares(nuggets: pd.DataFrame, clusters: pd.DataFrame) -> pd.DataFrame:
    """Number of clusters of a method, relative to half the number of nuggets (L2720)."""
    keys = ["detection", "input", "topic"]
    counts = nuggets.groupby(keys).size().rename("nuggets").reset_index()
    counts = counts[counts["nuggets"] >= 4]
    n_clusters = clusters.groupby([*keys, "clustering"])["cluster"].nunique().reset_index()
    counts = n_clusters.merge(counts)
    rows = []
    for (detection, kind, name), group in counts.groupby(["detection", "input", "clustering"]):
        half, mean = (group["nuggets"] // 2).mean(), group["cluster"].mean()
        summary = {
            "half of the nuggets": half,
            "clusters": mean,
            "clusters of half": mean / half,
            "questions": len(group),
        }
        rows += [(kind, detection, name, metric, float(value)) for metric, value in summary.items()]
    return pd.DataFrame(
        rows, columns=["input", "nugget_detection", "clustering", "metric", "value"]
    )
