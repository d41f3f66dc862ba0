"""Fusion of runs, and re-ranking of the top by new scores or by pairwise preferences.

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

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from everycell.trec.runs import trec_order

How = Literal["sum", "log"]

# The smallest normal 32-bit float, which replaces a probability of 0 in logarithms.
_MIN_PROBABILITY = float(np.finfo(np.float32).tiny)


def reciprocal_rank_fusion(runs: Sequence[pd.DataFrame], k: float = 60) -> pd.DataFrame:
    """Fuse runs: a document's score is the sum of 1 / (k + rank) over the runs that contain it.

    The queries keep the order of the first run.
    """
    ordered = pd.concat([trec_order(run) for run in runs], keys=range(len(runs)), names=["run"])
    rank = ordered.groupby(["run", "query"], sort=False).cumcount() + 1
    # groupby keeps the order of first occurrences; bincount adds in the order of the runs.
    pairs = ordered.groupby(["query", "document"], sort=False)
    sums = np.bincount(pairs.ngroup(), weights=1 / (k + rank))
    names = ordered[["query", "document"]].drop_duplicates(ignore_index=True)
    return trec_order(names.assign(score=sums))


def top_documents(run: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Keep the first `depth` documents of each query."""
    return trec_order(run).groupby("query", sort=False).head(depth).reset_index(drop=True)


def rerank(run: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Put the re-scored documents of each query first, in their new order; the others follow."""
    first, second = trec_order(run), trec_order(scores)
    keys = ["query", "document"]
    positions = second[keys].assign(position=np.arange(len(second)))
    merged = first.merge(positions, on=keys, how="left")
    # The other documents follow in their old order.
    order = merged["position"].fillna(len(second)).to_numpy()
    query, _ = pd.factorize(merged["query"])
    ordered = merged.iloc[np.lexsort((np.arange(len(merged)), order, query))]
    reversed_ranks = ordered.groupby("query", sort=False).cumcount(ascending=False) + 1.0
    return ordered[keys].assign(score=reversed_ranks).reset_index(drop=True)


def ordered_pairs(run: pd.DataFrame) -> pd.DataFrame:
    """All ordered pairs of different documents of each query, for a pairwise re-ranker."""
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
    p = preferences["probability"].to_numpy(dtype=float)
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
    totals = scored.groupby(["query", "document"], sort=False)["score"].sum()
    return trec_order(totals.reset_index()[["query", "document", "score"]])
