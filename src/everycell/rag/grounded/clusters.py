"""Clusters of the nuggets of one question (facets of its answer), and their ranking.

Source: lajewska2025, section 6.2 and Table C.5, with the settings of the released code. Clusters
are ranked by how well they answer the question: duoT5 on their joined nuggets, or BM25.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import Stemmer
from rank_bm25 import BM25Okapi
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from everycell.base.arrays import FloatArray, IntArray

#: With fewer nuggets than this, each is a separate cluster.
FEWEST = 4
_WORD = re.compile(r"[^\W_]+")


def stems(text: str) -> list[str]:
    """Stems of the words of an English text, in lower case (Snowball's English stemmer)."""
    return Stemmer.Stemmer("english").stemWords(_WORD.findall(text.lower()))


def lsa_clusters(texts: Sequence[str], *, seed: int) -> IntArray:
    """Clusters by latent semantic analysis, with half as many topics as nuggets.

    Each nugget is in its strongest topic. The released code uses lemmas; this function uses stems,
    since lemmas need a dictionary that no installed package includes.
    """
    terms = {term for text in texts for term in stems(text)}
    if len(texts) < FEWEST or not terms:
        return np.arange(len(texts))
    if len(terms) == 1:
        return np.zeros(len(texts), dtype=int)
    weights = TfidfVectorizer(analyzer=stems, max_features=1000).fit_transform(texts)
    topics = min(len(texts) // 2, weights.shape[1])
    svd = TruncatedSVD(n_components=topics, n_iter=10, random_state=seed)
    # Explained variance is not used; for equal nuggets it is undefined.
    with np.errstate(invalid="ignore", divide="ignore"):
        strengths = svd.fit_transform(weights)
    return _number_in_order(strengths.argmax(axis=1))


def density_clusters(vectors: npt.ArrayLike, *, seed: int) -> IntArray:
    """Clusters as in BERTopic: UMAP to two dimensions, then HDBSCAN.

    BERTopic 0.17.4 gives the same partition of the same vectors (tested with 4 to 40 vectors). The
    words with which it describes clusters are not used.
    """
    points = np.asarray(vectors, dtype=np.float32)
    if len(points) < FEWEST:
        return np.arange(len(points))
    # umap takes several seconds to compile when it is imported and first used.
    from sklearn.cluster import HDBSCAN
    from umap import UMAP

    with warnings.catch_warnings():
        # Warnings about fewer points than neighbours, and about one thread because of the seed.
        warnings.simplefilter("ignore", UserWarning)
        reduced = UMAP(
            n_neighbors=50, n_components=2, min_dist=0.01, random_state=seed
        ).fit_transform(points)
    return _number_in_order(
        HDBSCAN(min_cluster_size=2, min_samples=1, copy=True).fit_predict(reduced)
    )


def _number_in_order(labels: npt.ArrayLike) -> IntArray:
    """Number clusters in the order in which they first occur."""
    order: dict[int, int] = {}
    return np.array([order.setdefault(int(label), len(order)) for label in np.asarray(labels)])


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
