"""Effectiveness and group fairness of rankers: per query, means with tests, curves, overlap.

Source: abolghasemi2024, which is chapter 4 of abolghasemi2026.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.metrics.crbo import crbo
from everycell.metrics.ranked_groups import ranked_counts
from everycell.metrics.rbo import PERSISTENCE
from everycell.metrics.term_counts import read_counts
from everycell.metrics.term_fairness import correlation, fairness_by_query
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.significance import paired_tests
from everycell.trec.runs import read_run, trec_order

#: Marks after a value: better than the baseline; a significant correlation.
BETTER, CORRELATED = "‡", "†"
#: Effectiveness measures: name in tables -> name in `everycell.retrieval.evaluation`.
EFFECTIVENESS = {"MRR": "RR", "nDCG": "nDCG"}
#: Fairness measures, which are defined for every list.
FAIRNESS = ["NFaiRR", "TExFAIR"]


def measure_rankers(
    runs: Iterable[tuple[str, pd.DataFrame]],
    counts: pd.DataFrame,
    *,
    k: int,
    qrels: pd.DataFrame | None = None,
    relevant_from: int = 1,
) -> dict[str, pd.DataFrame]:
    """Measure several rankers on one query set.

    Each frame has a row per query, in the same order, with `FAIRNESS` and, given qrels,
    `EFFECTIVENESS`. A query without judgements has only fairness values.
    """
    values = {}
    for name, run in runs:
        ranked = ranked_counts(run, counts, depth=k)
        fairness = fairness_by_query(ranked, [k], background=counts).set_index("query")
        # The order of the queries differs between runs.
        values[name] = fairness[FAIRNESS].sort_index()
        if qrels is not None:
            effectiveness = evaluate(
                run,
                qrels,
                [f"{measure}@{k}" for measure in EFFECTIVENESS.values()],
                relevance_level=relevant_from,
            )
            effectiveness = effectiveness.set_axis(list(EFFECTIVENESS), axis="columns")
            values[name] = effectiveness.reindex(values[name].index).join(values[name])
    return values


def restrict_to_common_queries(
    values: Mapping[str, pd.DataFrame],
) -> tuple[dict[str, pd.DataFrame], int]:
    """Restrict the values to queries that all rankers have; also count the other queries."""
    indices = [frame.index for frame in values.values()]
    common = functools.reduce(pd.Index.intersection, indices)
    union = functools.reduce(pd.Index.union, indices)
    restricted = {name: frame.loc[common] for name, frame in values.items()}
    return restricted, len(union) - len(common)


def ranker_means(
    values: Mapping[str, pd.DataFrame],
    *,
    baseline: str | None = None,
    correlated: tuple[str, str] | None = None,
    level: float = 0.05,
) -> pd.DataFrame:
    """Mean of each measure over the queries, with significance marks."""
    first = next(iter(values.values()))
    compared = [system for system in values if system != baseline]
    better = set()
    if baseline is not None and compared:
        for measure in first.columns:
            by_system = pd.DataFrame({name: frame[measure] for name, frame in values.items()})
            pairs = [(system, baseline) for system in compared]
            tests = paired_tests(by_system.dropna(), pairs, level=level)
            better |= {(row.a, measure) for row in tests.itertuples() if row.better == row.a}
    rows = []
    for system, frame in values.items():
        for measure in first.columns:
            marker = BETTER if (system, measure) in better else ""
            rows.append((system, measure, frame[measure].mean(), marker, frame[measure].count()))
        if correlated is not None:
            result = correlation(*(frame[measure] for measure in correlated))
            marker = CORRELATED if result.p < level else ""
            rows.append((system, "r", result.r, marker, result.queries))
    return pd.DataFrame(rows, columns=["system", "metric", "value", "marker", "n"])


def compare_with_baseline(
    values: Mapping[str, pd.DataFrame], baseline: str, *, level: float = 0.05
) -> pd.DataFrame:
    """Two-sided paired t-tests of each system against the baseline, per measure."""
    rows = []
    for measure in values[baseline].columns:
        by_system = pd.DataFrame({name: frame[measure] for name, frame in values.items()}).dropna()
        pairs = [(system, baseline) for system in values if system != baseline]
        for test in paired_tests(by_system, pairs, level=level).itertuples():
            statistics = {
                "difference": test.difference,
                "p": test.p,
                "p_corrected": test.p_corrected,
            }
            rows += [(test.a, measure, name, value) for name, value in statistics.items()]
    table = pd.DataFrame(rows, columns=["system", "measure", "metric", "value"])
    order = {system: index for index, system in enumerate(values)}
    return table.sort_values(
        "system", key=lambda names: names.map(order), kind="stable", ignore_index=True
    )


def counterfactual_overlap(
    original: pd.DataFrame,
    counterfactual: pd.DataFrame,
    *,
    p: float = PERSISTENCE,
    depth: int = 10,
) -> pd.Series:
    """CRBO of two runs per query; 1 if the swap leaves the top ranks unchanged."""
    before, after = (
        ordered.assign(rank=ordered.groupby("query", sort=False).cumcount() + 1)
        for ordered in (trec_order(original), trec_order(counterfactual))
    )
    return crbo(before, after, p, depth=depth)


def overlap_by_query(
    original: pd.DataFrame,
    counterfactual: pd.DataFrame,
    counts: pd.DataFrame,
    *,
    k: int,
    p: float = PERSISTENCE,
) -> pd.DataFrame:
    """Overlap of each query's lists before and after a swap, and the original's fairness."""
    ranked = ranked_counts(original, counts, depth=k)
    fairness = fairness_by_query(ranked, [k], background=counts).set_index("query")
    overlap = counterfactual_overlap(original, counterfactual, p=p, depth=k)
    return overlap.rename("CRBO").to_frame().join(fairness[["TExFAIR", "NFaiRR"]]).sort_index()


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
