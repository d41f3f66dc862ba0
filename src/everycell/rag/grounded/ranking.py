"""Ranking of clusters of nuggets by how well they answer the question.

Source: lajewska2025, section 6.2: duoT5 on the joined nuggets of a cluster, or BM25.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi

from everycell.base.arrays import FloatArray
from everycell.rag.grounded.clusters import stems


def bm25_scores(question: str, texts: Sequence[str]) -> FloatArray:
    """Okapi BM25 scores of texts that form their own collection, with the thesis's package."""
    words = [stems(text) for text in texts]
    if not any(words):
        return np.zeros(len(texts))
    return BM25Okapi(words).get_scores(stems(question))


def vector_scores(
    question: npt.ArrayLike, vectors: npt.ArrayLike, clusters: npt.ArrayLike
) -> FloatArray:
    """Cosine similarity of a question and the mean of each cluster's nuggets."""
    question_vector, points, labels = (
        np.asarray(question, float),
        np.asarray(vectors, float),
        np.asarray(clusters),
    )
    scores = []
    for cluster in range(labels.max() + 1):
        mean = points[labels == cluster].mean(axis=0)
        length = np.linalg.norm(mean) * np.linalg.norm(question_vector)
        scores.append(float(mean @ question_vector / length) if length else 0.0)
    return np.array(scores)


def order(scores: npt.ArrayLike) -> list[int]:
    """Positions from the highest score to the lowest; ties keep their order."""
    return [int(position) for position in np.argsort(-np.asarray(scores, float), kind="stable")]
