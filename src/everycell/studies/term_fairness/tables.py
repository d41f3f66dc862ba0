"""Shapes of the tables on group fairness: rankers by query set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from everycell.retrieval.ranker_fairness import ranker_means, tests_against

#: Measures whose correlation over the queries is shown.
CORRELATED = ("TExFAIR", "NFaiRR")


class FairnessTables(NamedTuple):
    """The table of means and its supplementary tables; tidy, one row per cell."""

    means: pd.DataFrame
    #: How many queries of each set count, and how many of them are judged.
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
    """Means of effectiveness and fairness on each query set, with the marks of the tests."""
    means = pd.concat(
        ranker_means(rankers, baseline=baseline, correlated=CORRELATED, level=level).assign(
            query_set=query_set
        )
        for query_set, rankers in measured.items()
    ).rename(columns={"system": "row"})
    means["family"] = means["row"].map(families)
    means["metric"] = means["metric"].replace(names)
    tests = pd.concat(
        tests_against(rankers, baseline, level=level).assign(query_set=query_set)
        for query_set, rankers in measured.items()
    ).rename(columns={"system": "row"})
    return FairnessTables(
        means[["row", "family", "query_set", "metric", "value", "marker"]],
        queries_that_count(means),
        tests[["query_set", "row", "measure", "metric", "value"]],
    )


def queries_that_count(means: pd.DataFrame) -> str:
    """Queries of each set, as a note: `query_set` and `n` (queries with a value) of each cell.

    Examples
    --------
    >>> queries_that_count(pd.DataFrame({"query_set": ["A", "A", "B"], "n": [40, 50, 7]}))
    'A: 50 queries of which 40 are judged, B: 7 queries'
    """
    queries = means.groupby("query_set", sort=False)["n"].agg(["min", "max"])
    return ", ".join(
        f"{name}: {all_of_them} queries" + f" of which {judged} are judged" * (judged < all_of_them)
        for name, judged, all_of_them in queries.itertuples()
    )


def overlap_table(values: Mapping[str, Mapping[str, pd.DataFrame]]) -> pd.DataFrame:
    """Means of overlap and fairness on each query set."""
    table = pd.concat(
        ranker_means(rankers).assign(query_set=query_set) for query_set, rankers in values.items()
    ).rename(columns={"system": "row"})
    return table[["row", "query_set", "metric", "value", "marker"]]
