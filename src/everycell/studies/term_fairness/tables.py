"""Tables on group fairness: rankers by query set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from everycell.retrieval.ranker_fairness import compare_with_baseline, ranker_means

#: Measures whose correlation over queries is reported.
CORRELATED = ("TExFAIR", "NFaiRR")


class FairnessTables(NamedTuple):
    """The table of means and its supplementary tables, one row per cell."""

    means: pd.DataFrame
    #: Numbers of queries and of judged queries per set.
    note: str
    tests: pd.DataFrame


def fairness_tables(
    measured: Mapping[str, dict[str, pd.DataFrame]],
    *,
    families: Mapping[str, str],
    baseline: str,
    level: float,
    names: Mapping[str, str],
) -> FairnessTables:
    """Means of effectiveness and fairness per query set, with markers of tests."""
    means = pd.concat(
        ranker_means(rankers, baseline=baseline, correlated=CORRELATED, level=level).assign(
            query_set=query_set
        )
        for query_set, rankers in measured.items()
    ).rename(columns={"system": "row"})
    means["family"] = means["row"].map(families)
    means["metric"] = means["metric"].replace(names)
    tests = pd.concat(
        compare_with_baseline(rankers, baseline, level=level).assign(query_set=query_set)
        for query_set, rankers in measured.items()
    ).rename(columns={"system": "row"})
    return FairnessTables(
        means[["row", "family", "query_set", "metric", "value", "marker"]],
        describe_query_counts(means),
        tests[["query_set", "row", "measure", "metric", "value"]],
    )


def describe_query_counts(means: pd.DataFrame) -> str:
    """Note on queries and judged queries per set, from `query_set` and `n`."""
    queries = means.groupby("query_set", sort=False)["n"].agg(["min", "max"])
    return ", ".join(
        f"{name}: {total} queries" + f" ({judged} judged)" * (judged < total)
        for name, judged, total in queries.itertuples()
    )


def overlap_table(values: Mapping[str, Mapping[str, pd.DataFrame]]) -> pd.DataFrame:
    """Means of overlap and fairness per query set."""
    table = pd.concat(
        ranker_means(rankers).assign(query_set=query_set) for query_set, rankers in values.items()
    ).rename(columns={"system": "row"})
    return table[["row", "query_set", "metric", "value", "marker"]]
