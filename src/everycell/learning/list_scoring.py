"""Scores of ranked lists by models that read query and document together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set

import numpy.typing as npt
import pandas as pd

#: (query, document) pairs -> their scores, in the same order.
Scorer = Callable[[Sequence[tuple[str, str]]], npt.ArrayLike]


def score_in_parts(lists: pd.DataFrame, score: Scorer, *, at_once: int = 50) -> pd.DataFrame:
    """Score the documents of ranked lists, in batches of queries."""
    if lists.empty:
        return lists.assign(score=pd.Series(dtype=float))
    part_of = pd.factorize(lists["query"])[0] // at_once
    return pd.concat([_score_part(part, score) for _, part in lists.groupby(part_of)])


def score_by_fold(lists: pd.DataFrame, scorers: Iterable[tuple[Set[str], Scorer]]) -> pd.DataFrame:
    """Score each list with the model whose training data did not include its query."""
    parts, models = [], dict.fromkeys(lists["query"], 0)
    for held_out, score in scorers:
        part = lists[lists["query"].isin(held_out)]
        parts.append(_score_part(part, score))
        for query in part["query"].unique():
            models[query] += 1
    for query, count in models.items():
        if count != 1:
            raise ValueError(
                f"Query {query!r} was held out from {count} models: each query must be a test "
                "query of exactly one fold."
            )
    return pd.concat(parts).sort_index()


def _score_part(part: pd.DataFrame, score: Scorer) -> pd.DataFrame:
    pairs = list(part[["query", "document"]].itertuples(index=False, name=None))
    return part.assign(score=score(pairs))
