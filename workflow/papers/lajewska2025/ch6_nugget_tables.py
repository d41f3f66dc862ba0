"""Numbers and sizes of nuggets and clusters, in chapter 6 of lajewska2025 (Tables C.3 to C.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from everycell.base.untrusted import read_json
from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.ch6_systems import GOLD, LSA, REFERENCES, RETRIEVED

#: Name in `size_statistics` -> published column.
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
#: Decimals of the values of `half_shares`.
HALF_DECIMALS = {
    "half of the nuggets": 2,
    "clusters": 2,
    "clusters of half": 2,
    "questions": 0,
}


def size_statistics(counts: Iterable[int], lengths: Iterable[float]) -> dict[str, float]:
    """Mean, median and maximum of counts, and mean of lengths (Tables C.4 and C.5)."""
    numbers, characters = np.array(list(counts), float), np.array(list(lengths), float)
    return {
        "avg": float(numbers.mean()),
        "med": float(np.median(numbers)),
        "max": float(numbers.max()),
        "length": float(characters.mean()),
    }


def nugget_table(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Table C.4: nuggets per question, and their lengths."""
    rows = []
    for (detection, kind), group in nuggets.groupby(["detection", "input"]):
        summary = size_statistics(group.groupby("topic").size(), group["text"].str.len())
        rows += [(kind, detection, _NUGGETS[name], value) for name, value in summary.items()]
    return pd.DataFrame(rows, columns=["input", "nugget_detection", "metric", "value"])


def nugget_sizes(job: ResultJob) -> None:
    """Table C.4: numbers of human nuggets, with those of a classifier and the test queries."""
    sizes = nugget_table(pd.read_parquet(job.input.nuggets))
    _write_by_detection(job, sizes, dict.fromkeys(_NUGGETS.values(), 2))
    agreed = pd.read_parquet(job.input.agreement)
    keys = ["detection", "reference", "metric", "value"]
    job.write_supplement(agreed[keys], "agreement", {"precision": 2, "recall": 2, "F1": 2})
    search = pd.read_parquet(job.input.search)
    job.write_supplement(search, "search", dict.fromkeys(search["metric"], 0))


def _write_by_detection(job: ResultJob, sizes: pd.DataFrame, decimals: Mapping[str, int]) -> None:
    """Write the rows of human nuggets as the table, the classifier's as a supplement."""
    is_gold = sizes["nugget_detection"] == GOLD
    job.write_table(sizes[is_gold].reset_index(drop=True))
    of_classifier = sizes[~is_gold].drop(columns="nugget_detection")
    job.write_supplement(of_classifier, "classifier", decimals)


def detected_nuggets(job: ResultJob) -> None:
    """Tables C.3 and C.4: nuggets detected by a language model, compared with human nuggets."""
    files = job.input
    job.facts["language_models"] = [read_json(files.provenance)]
    agreed = pd.read_parquet(files.agreement)
    first_agreement = agreed[(agreed["reference"] == REFERENCES[0]) & (agreed["metric"] == "F1")]
    first_agreement = first_agreement.assign(row="Detected by GPT-4", metric="ROUGE F1")
    job.write_table(first_agreement[["row", "metric", "value"]])
    job.write_table(nugget_table(pd.read_parquet(files.nuggets)), artefact="table_C_4")
    keys = ["detection", "reference", "metric", "value"]
    job.write_supplement(
        agreed[keys], "agreement", {"precision": 2, "recall": 2, "F1": 2}, "table_C_4"
    )


def cluster_table(clusters: pd.DataFrame) -> pd.DataFrame:
    """Table C.5: clusters per question, and nuggets per cluster."""
    rows = []
    for (detection, kind, clustering), group in clusters.groupby(
        ["detection", "input", "clustering"]
    ):
        if kind == RETRIEVED and clustering == LSA:
            continue  # Table C.5 has no such row.
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


def cluster_sizes(job: ResultJob) -> None:
    """Table C.5: number of clusters of human nuggets, with those of a classifier."""
    nuggets = pd.read_parquet(job.input.nuggets)
    clusters = pd.read_parquet(job.input.clusters)
    decimals = dict.fromkeys(_CLUSTERS.values(), 2)
    _write_by_detection(job, cluster_table(clusters), decimals)
    job.write_supplement(half_shares(nuggets, clusters), "halves", HALF_DECIMALS)


def detected_clusters(job: ResultJob) -> None:
    """Table C.5: number of clusters of nuggets that a language model detected."""
    nuggets = pd.read_parquet(job.input.nuggets)
    clusters = pd.read_parquet(job.input.clusters)
    job.write_table(cluster_table(clusters))
    job.write_supplement(half_shares(nuggets, clusters), "halves", HALF_DECIMALS)
