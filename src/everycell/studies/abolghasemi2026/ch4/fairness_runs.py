"""Group fairness of the runs of several systems, as chapter 4 of abolghasemi2026 shows it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pandas as pd

from everycell.metrics.fairness_frames import fairness_by_query
from everycell.metrics.ranked_counts import ranked_counts
from everycell.metrics.term_counts import read_counts
from everycell.trec.runs import read_run

#: Measures of Figure 4.2, under its names.
MEASURES = {
    "NFaiRR": "NFaiRR",
    "TExFAIR": "TExFAIR (with RBDF)",
    "TExFAIR without RBDF": "TExFAIR (without RBDF)",
}
#: A system of a query set: its name there, collection, file of its run, name to show.
System = tuple[str, str, str, str]


def fairness_of(systems: Iterable[System], cutoffs: Iterable[int], tau: float) -> pd.DataFrame:
    """Measures of every query of every system at the cut-offs.

    Columns: `query_set`, `system` (its name to show), `query`, `k` and those of
    `everycell.metrics.fairness_frames.MEASURES`. The background of NFaiRR is the collection.
    """
    wanted, parts = list(cutoffs), []
    known = cache(read_counts)
    for query_set, collection, run, name in systems:
        folder = Path("work") / collection
        counts = known(folder / "counts.parquet")
        ranked = ranked_counts(read_run(folder / "runs" / f"{run}.run"), counts, depth=max(wanted))
        part = fairness_by_query(ranked, wanted, tau=tau, background=counts)
        parts.append(part.assign(query_set=query_set, system=name))
    return pd.concat(parts, ignore_index=True)


def mean_curves(fairness: pd.DataFrame) -> pd.DataFrame:
    """Mean over the queries: `query_set`, `system`, `measure` (as in Figure 4.2), `k`, `value`.

    TExFAIR without RBDF is the mean over queries with a group term in the first k documents; there
    is no row where no query has one.
    """
    keys = ["query_set", "system", "k"]
    means = fairness.groupby(keys, sort=False)[list(MEASURES)].mean().rename(columns=MEASURES)
    curves = means.reset_index().melt(id_vars=keys, var_name="measure")
    return curves.dropna(subset="value")[["query_set", "system", "measure", "k", "value"]]


def sensitivity(curves: pd.DataFrame) -> pd.DataFrame:
    r"""How much each mean curve changes from a cut-off to the next, on average.

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
    """Which measure changes most in each query set, in the mean over the systems.

    `query_set`, `measure`, and `value`: "highest" (several, if alike within 1e-12), or "lower".
    """
    means = changes.groupby(["query_set", "measure"], sort=False)["value"].mean()
    highest = means >= means.groupby(level="query_set").transform("max") - 1e-12
    return highest.map({True: "highest", False: "lower"}).reset_index()
