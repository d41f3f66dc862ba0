"""Surrogates of monoT5 and duoT5: regressions on the scores of two encoders.

They are trained on the turns of a different year. The features of a passage are its MiniLM and
SPLADE-tiny scores for the rewritten query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from everycell.base.arrays import FloatArray
from everycell.retrieval.reranking import (
    aggregate_preferences,
    ordered_pairs,
    rerank,
    top_documents,
)


class Scorer(Protocol):
    """An encoder that scores pairs of a query and a document."""

    def score(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Add a column `score` to `pairs` (columns `query`, `document`), in the same order."""


class PassageRerankers:
    """A point-wise re-ranker of all candidates, and a pair-wise one of the top candidates.

    Unjudged candidates count as not relevant, in CAsT and in `fit`.
    """

    def __init__(self, encoders: Sequence[Scorer], first: int) -> None:
        self.encoders, self.first = encoders, first
        self.mono = make_pipeline(StandardScaler(), LogisticRegression())
        # A linear model gives one order of the passages, however preferences are aggregated.
        # Products of the scores avoid this.
        self.duo = make_pipeline(
            StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000)
        )

    def fit(
        self, run: pd.DataFrame, rewriter: str, qrels: pd.DataFrame, relevance_level: int
    ) -> PassageRerankers:
        """Train both re-rankers on a first-pass run and relevance judgements."""
        levels = run.merge(qrels, how="left")["relevance"].fillna(0).to_numpy()
        self.mono.fit(self._features(run, rewriter), levels >= relevance_level)
        pairs, values = self._paired_features(self.pointwise(run, rewriter), rewriter)
        level_of = pd.Series(levels, pd.MultiIndex.from_frame(run[["query", "document"]]))
        first, second = (
            level_of.loc[pd.MultiIndex.from_frame(pairs[["query", side]])].to_numpy()
            for side in ("first", "second")
        )
        self.duo.fit(values[first != second], (first > second)[first != second])
        return self

    def pointwise(self, run: pd.DataFrame, rewriter: str) -> pd.DataFrame:
        """Re-rank a run point-wise."""
        scores = self.mono.decision_function(self._features(run, rewriter))
        return rerank(run, run[["query", "document"]].assign(score=scores))

    def pairwise(
        self, run: pd.DataFrame, rewriter: str, options: Mapping[str, Any]
    ) -> pd.DataFrame:
        """Re-rank the top passages of a run pair-wise."""
        pairs, values = self._paired_features(run, rewriter)
        pairs["probability"] = self.duo.predict_proba(values)[:, 1]
        return rerank(run, aggregate_preferences(pairs, **options))

    def _features(self, pairs: pd.DataFrame, rewriter: str) -> FloatArray:
        rewritten = pairs.assign(query=rewriter + ":" + pairs["query"])
        return np.column_stack([encoder.score(rewritten)["score"] for encoder in self.encoders])

    def _paired_features(self, run: pd.DataFrame, rewriter: str) -> tuple[pd.DataFrame, FloatArray]:
        """All ordered pairs of top passages, with the features of both passages."""
        first = top_documents(run, self.first)
        pairs = ordered_pairs(first)
        keys = pd.MultiIndex.from_frame(first[["query", "document"]])
        values = self._features(first, rewriter)
        sides = [
            values[keys.get_indexer(pd.MultiIndex.from_frame(pairs[["query", side]]))]
            for side in ("first", "second")
        ]
        return pairs, np.column_stack(sides)
