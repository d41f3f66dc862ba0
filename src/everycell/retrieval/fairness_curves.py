"""Group fairness of rankings by cut-off: mean curves and their sensitivity.

Source: abolghasemi2024, section 4, which is chapter 4 of abolghasemi2026.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.metrics.ranked_groups import ranked_counts
from everycell.metrics.term_counts import read_counts
from everycell.metrics.term_fairness import fairness_by_query
from everycell.trec.runs import read_run

#: Measures with curves -> their names in figures.
MEASURES = {
    "NFaiRR": "NFaiRR",
    "TExFAIR": "TExFAIR (with RBDF)",
    "TExFAIR without RBDF": "TExFAIR (without RBDF)",
}


class RankedSystem(NamedTuple):
    """A system's run on a query set, and the term counts of the collection."""

    query_set: str
    name: str
    counts: Path
    run: Path


def fairness_at_cutoffs(
    systems: Iterable[RankedSystem], cutoffs: Iterable[int], tau: float
) -> pd.DataFrame:
    """Fairness of each query of each system at the cut-offs."""
    depths, parts = list(cutoffs), []
    read_cached = cache(read_counts)
    for system in systems:
        counts = read_cached(system.counts)
        ranked = ranked_counts(read_run(system.run), counts, depth=max(depths))
        part = fairness_by_query(ranked, depths, tau=tau, background=counts)
        parts.append(part.assign(query_set=system.query_set, system=system.name))
    return pd.concat(parts, ignore_index=True)


def mean_curves(fairness: pd.DataFrame) -> pd.DataFrame:
    """Average over queries: `query_set`, `system`, `measure` (name in figures), `k`, `value`.

    TExFAIR without RBDF is averaged over the queries with a group term in the first k documents. If
    there are none, the row is omitted.
    """
    keys = ["query_set", "system", "k"]
    means = fairness.groupby(keys, sort=False)[list(MEASURES)].mean().rename(columns=MEASURES)
    curves = means.reset_index().melt(id_vars=keys, var_name="measure")
    return curves.dropna(subset="value")[["query_set", "system", "measure", "k", "value"]]


def sensitivity(curves: pd.DataFrame) -> pd.DataFrame:
    r"""Mean absolute change of each curve from one cut-off to the next.

    .. math:: \frac{1}{K - 1} \sum_{k=2}^{K} |m(k) - m(k - 1)|

    The mean is over the cut-offs at which all measures of a system have a value; a system with
    fewer than two of these has no row. Columns: `query_set`, `system`, `measure`, `value`.
    """
    groups = ["query_set", "system"]
    values = curves.set_index([*groups, "measure", "k"])["value"].unstack("measure", sort=False)
    steps = values.dropna().groupby(level=groups, sort=False).diff().abs()
    means = steps.groupby(level=groups, sort=False).mean().dropna()
    return means.melt(ignore_index=False).reset_index()


def most_sensitive(changes: pd.DataFrame) -> pd.DataFrame:
    """Mark the measure that changes most in each query set, on average over the systems.

    Columns: `query_set`, `measure` and `value`, which is "highest" or "lower". All measures within
    1e-12 of the maximum are "highest".
    """
    means = changes.groupby(["query_set", "measure"], sort=False)["value"].mean()
    highest = means >= means.groupby(level="query_set").transform("max") - 1e-12
    return highest.map({True: "highest", False: "lower"}).reset_index()


def compare_with_truth(fairness: pd.DataFrame, truth: pd.DataFrame, *, cutoff: int) -> pd.DataFrame:
    """Compare measured with planted values: means at a cut-off, and the largest difference.

    The largest difference is over all queries and all cut-offs.
    """
    keys, names = ["system", "query", "k"], list(MEASURES)
    measured, planted = (
        frame.melt(id_vars=keys, value_vars=names, var_name="measure")
        for frame in (fairness, truth)
    )
    merged = measured.merge(planted, on=[*keys, "measure"], suffixes=("", "_planted"))
    merged["difference"] = (merged["value"] - merged["value_planted"]).abs()
    groups = ["system", "measure"]
    at_cutoff = merged[merged["k"] == cutoff].groupby(groups, sort=False)
    table = at_cutoff[["value", "value_planted"]].mean()
    table["difference"] = merged.groupby(groups, sort=False)["difference"].max()
    return table.reset_index().replace({"measure": MEASURES}).dropna(subset="value")
