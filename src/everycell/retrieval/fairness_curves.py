"""Group fairness of rankings at every cut-off: curves, and their changes.

Source: abolghasemi2024, section 4, which is chapter 4 of abolghasemi2026.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.metrics.fairness_frames import fairness_by_query
from everycell.metrics.ranked_counts import ranked_counts
from everycell.metrics.term_counts import read_counts
from everycell.trec.runs import read_run

#: Measures whose curves are shown -> their names in figures.
MEASURES = {
    "NFaiRR": "NFaiRR",
    "TExFAIR": "TExFAIR (with RBDF)",
    "TExFAIR without RBDF": "TExFAIR (without RBDF)",
}


class RankedSystem(NamedTuple):
    """A system on a query set."""

    query_set: str
    name: str
    counts: Path
    run: Path


def fairness_at_cutoffs(
    systems: Iterable[RankedSystem], cutoffs: Iterable[int], tau: float
) -> pd.DataFrame:
    """Measures of every query of every system at the cut-offs."""
    depths, parts = list(cutoffs), []
    known = cache(read_counts)
    for system in systems:
        counts = known(system.counts)
        ranked = ranked_counts(read_run(system.run), counts, depth=max(depths))
        part = fairness_by_query(ranked, depths, tau=tau, background=counts)
        parts.append(part.assign(query_set=system.query_set, system=system.name))
    return pd.concat(parts, ignore_index=True)


def mean_curves(fairness: pd.DataFrame) -> pd.DataFrame:
    """Mean over the queries: `query_set`, `system`, `measure` (as shown), `k`, `value`.

    TExFAIR without RBDF is the mean over queries with a group term in the first k documents; there
    is no row where no query has one.
    """
    keys = ["query_set", "system", "k"]
    means = fairness.groupby(keys, sort=False)[list(MEASURES)].mean().rename(columns=MEASURES)
    curves = means.reset_index().melt(id_vars=keys, var_name="measure")
    return curves.dropna(subset="value")[["query_set", "system", "measure", "k", "value"]]


def sensitivity(curves: pd.DataFrame) -> pd.DataFrame:
    r"""Average change of each mean curve from one cut-off to the next.

    .. math:: \frac{1}{K - 1} \sum_{k=2}^{K} |m(k) - m(k - 1)|

    Over the cut-offs at which every measure of a system has a value: `query_set`, `system`,
    `measure`, `value`. A system with fewer than two has no row.
    """
    lists = ["query_set", "system"]
    values = curves.set_index([*lists, "measure", "k"])["value"].unstack("measure", sort=False)
    steps = values.dropna().groupby(level=lists, sort=False).diff().abs()
    means = steps.groupby(level=lists, sort=False).mean().dropna()
    return means.melt(ignore_index=False).reset_index()


def most_sensitive(changes: pd.DataFrame) -> pd.DataFrame:
    """Find the measure that changes most in each query set, on average over the systems.

    `query_set`, `measure`, and `value`: "highest" (several, if alike within 1e-12), or "lower".
    """
    means = changes.groupby(["query_set", "measure"], sort=False)["value"].mean()
    highest = means >= means.groupby(level="query_set").transform("max") - 1e-12
    return highest.map({True: "highest", False: "lower"}).reset_index()


def compare_with_truth(fairness: pd.DataFrame, truth: pd.DataFrame, *, cutoff: int) -> pd.DataFrame:
    """Planted and measured means at a cut-off, and their largest difference at any."""
    keys, names = ["system", "query", "k"], list(MEASURES)
    measured, planted = (
        frame.melt(id_vars=keys, value_vars=names, var_name="measure")
        for frame in (fairness, truth)
    )
    both = measured.merge(planted, on=[*keys, "measure"], suffixes=("", "_planted"))
    both["difference"] = (both["value"] - both["value_planted"]).abs()
    groups = ["system", "measure"]
    table = both[both["k"] == cutoff].groupby(groups, sort=False)[["value", "value_planted"]].mean()
    table["difference"] = both.groupby(groups, sort=False)["difference"].max()
    return table.reset_index().replace({"measure": MEASURES}).dropna(subset="value")
