"""Re-ranking the top of a run, by new scores or by pairwise preferences.

A pointwise re-ranker (monoT5) scores each document by itself. A pairwise re-ranker (duoT5) reads
every ordered pair of documents, and estimates the probability p(i, j) that i is better than j. The
score of i can be aggregated from these probabilities in four ways:

============  =========  ==============================================
how           symmetric  score of i, summed over all other documents j
============  =========  ==============================================
sum           no         p(i, j)
log           no         log p(i, j)
sum           yes        p(i, j) + (1 - p(j, i))
log           yes        log p(i, j) + log(1 - p(j, i))
============  =========  ==============================================

Source: Pradeep, Nogueira and Lin, "The Expando-Mono-Duo design pattern" (2021), section on duoT5.
The code of lajewska2025, chapter 3, uses the symmetric sum; the text does not specify it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from everycell.base.frames import Schema
from everycell.trec.runs import trec_order

How = Literal["sum", "log"]

LISTS = Schema("run", ids=("query", "document"), key=("query", "document"))
PREFERENCES = Schema(
    "preferences",
    ids=("query", "first", "second"),
    ranges={"probability": (0, 1)},
    key=("query", "first", "second"),
)

# The smallest normal 32-bit float, which replaces a probability of 0 in logarithms.
_MIN_PROBABILITY = float(np.finfo(np.float32).tiny)


def top_documents(run: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Keep the first `depth` documents of each query."""
    if depth < 1:
        raise ValueError(f"depth is {depth}: it must be 1 or more.")
    return trec_order(run).groupby("query", sort=False).head(depth).reset_index(drop=True)


def rerank(run: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Put the re-scored documents of each query first, in their new order; the others follow."""
    first, second = trec_order(run), trec_order(scores)
    keys = ["query", "document"]
    positions = second[keys].assign(position=np.arange(len(second)))
    merged = first.merge(positions, on=keys, how="left")
    if merged["position"].notna().sum() < len(second):
        known = pd.MultiIndex.from_frame(first[keys])
        row = second[~pd.MultiIndex.from_frame(second[keys]).isin(known)].iloc[0]
        raise ValueError(
            f"The document {row['document']!r} has a new score for query {row['query']!r}, but is "
            "not in the query's list: score only documents of the list."
        )
    # The other documents follow in their old order.
    order = merged["position"].fillna(len(second)).to_numpy()
    query, _ = pd.factorize(merged["query"])
    ordered = merged.iloc[np.lexsort((np.arange(len(merged)), order, query))]
    reversed_ranks = ordered.groupby("query", sort=False).cumcount(ascending=False) + 1.0
    return ordered[keys].assign(score=reversed_ranks).reset_index(drop=True)


def ordered_pairs(run: pd.DataFrame) -> pd.DataFrame:
    """All ordered pairs of different documents of each query, for a pairwise re-ranker."""
    LISTS.check(run)
    parts = [np.empty((0, 2), dtype=np.intp)]
    query, _ = pd.factorize(run["query"])
    for rows in pd.Series(range(len(run))).groupby(query).indices.values():
        pairs = np.stack(np.meshgrid(rows, rows, indexing="ij"), axis=-1).reshape(-1, 2)
        parts.append(pairs[pairs[:, 0] != pairs[:, 1]])
    first, second = np.concatenate(parts).T
    names = run["document"].to_numpy()
    return pd.DataFrame(
        {"query": run["query"].to_numpy()[first], "first": names[first], "second": names[second]}
    )


def aggregate_preferences(
    preferences: pd.DataFrame, how: How = "sum", *, symmetric: bool = True
) -> pd.DataFrame:
    """Aggregate the probabilities that a document is better than the others into its score."""
    if how not in ("sum", "log"):
        raise ValueError(f"how is {how!r}: it must be 'sum' or 'log'.")
    PREFERENCES.check(preferences)
    p = preferences["probability"].to_numpy(dtype=float)
    is_same = (preferences["first"] == preferences["second"]).to_numpy()
    if is_same.any():
        row = preferences[is_same].iloc[0]
        raise ValueError(
            f"The pair {row['first']!r}, {row['second']!r} of query {row['query']!r} compares a "
            "document with itself: remove it."
        )
    won, lost = p, 1 - p
    if how == "log":
        won, lost = (np.log(np.maximum(x, _MIN_PROBABILITY)) for x in (won, lost))
    sides = [preferences[["query", "first"]].set_axis(["query", "document"], axis=1)] + [
        preferences[["query", "second"]].set_axis(["query", "document"], axis=1)
    ]
    scored = pd.concat(
        [sides[0].assign(score=won), sides[1].assign(score=lost if symmetric else 0.0)],
        ignore_index=True,
    )
    totals = scored.groupby(["query", "document"], sort=False).agg(
        score=("score", "sum"), pairs=("score", "size")
    )
    expected = 2 * (totals.groupby(level="query", sort=False)["pairs"].transform("size") - 1)
    if (totals["pairs"] != expected).any():
        query, document = (totals["pairs"] != expected).idxmax()
        raise ValueError(
            f"The document {document!r} of query {query!r} is not compared with every other "
            "document in both directions: give all ordered pairs."
        )
    return trec_order(totals.reset_index()[["query", "document", "score"]])
