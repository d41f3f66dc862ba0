"""Surrogates of monoT5 and duoT5: regressions on the scores of two encoders.

They learn from turns of another year. The features of a passage are what MiniLM and SPLADE-tiny
score it, for the query as a rewriter wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from everycell.engine.arrays import FloatArray
from everycell.retrieval.reranking import (
    aggregate_preferences,
    ordered_pairs,
    rerank,
    top_documents,
)


class Scorer(Protocol):
    """An encoder that scores pairs of a query and a document."""

    def score(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """`pairs` (columns `query`, `document`) with a column `score`, in their order."""


class PassageRerankers:
    """A point-wise re-ranker of all candidates, and a pair-wise one of the first of them.

    Of a candidate that nobody judged, CAsT takes that it is not relevant, and so does `fit`.
    """

    def __init__(self, encoders: Sequence[Scorer], first: int) -> None:
        self.encoders, self.first = encoders, first
        self.mono = make_pipeline(StandardScaler(), LogisticRegression())
        # With products of the scores: a linear model orders all documents, whatever is made of
        # pairs.
        self.duo = make_pipeline(
            StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000)
        )

    def fit(
        self, run: pd.DataFrame, rewriter: str, qrels: pd.DataFrame, relevance_level: int
    ) -> PassageRerankers:
        """Learn from a first pass and judgements."""
        levels = run.merge(qrels, how="left")["relevance"].fillna(0).to_numpy()
        self.mono.fit(self._features(run, rewriter), levels >= relevance_level)
        pairs, values = self._compared(self.pointwise(run, rewriter), rewriter)
        level_of = pd.Series(levels, pd.MultiIndex.from_frame(run[["query", "document"]]))
        one, other = (
            level_of.loc[pd.MultiIndex.from_frame(pairs[["query", side]])].to_numpy()
            for side in ("first", "second")
        )
        self.duo.fit(values[one != other], (one > other)[one != other])
        return self

    def pointwise(self, run: pd.DataFrame, rewriter: str) -> pd.DataFrame:
        """The run in the order of the point-wise re-ranker."""
        scores = self.mono.decision_function(self._features(run, rewriter))
        return rerank(run, run[["query", "document"]].assign(score=scores))

    def pairwise(
        self, run: pd.DataFrame, rewriter: str, options: Mapping[str, Any]
    ) -> pd.DataFrame:
        """The run with its first passages in the order of the pair-wise re-ranker."""
        pairs, values = self._compared(run, rewriter)
        pairs["probability"] = self.duo.predict_proba(values)[:, 1]
        return rerank(run, aggregate_preferences(pairs, **options))

    def _features(self, pairs: pd.DataFrame, rewriter: str) -> FloatArray:
        rewritten = pairs.assign(query=rewriter + ":" + pairs["query"])
        return np.column_stack([encoder.score(rewritten)["score"] for encoder in self.encoders])

    def _compared(self, run: pd.DataFrame, rewriter: str) -> tuple[pd.DataFrame, FloatArray]:
        """First passages of a run in pairs, with the scores of both."""
        first = top_documents(run, self.first)
        pairs = ordered_pairs(first)
        keys = pd.MultiIndex.from_frame(first[["query", "document"]])
        values = self._features(first, rewriter)
        sides = [
            values[keys.get_indexer(pd.MultiIndex.from_frame(pairs[["query", side]]))]
            for side in ("first", "second")
        ]
        return pairs, np.column_stack(sides)
