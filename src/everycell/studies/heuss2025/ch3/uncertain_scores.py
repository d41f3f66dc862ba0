"""Cross-validated scores with standard deviations; folds do not split conversations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.retrieval.encoded import Encoded
from everycell.statistics.laplace import (
    LastLayer,
    fisher_diagonal,
    log_odds_distribution,
    sampled_distribution,
)

Vectors = Callable[[pd.DataFrame], FloatArray]


def candidate_pairs(candidates: pd.DataFrame) -> pd.DataFrame:
    """Distinct pairs of query and candidate, with relevance."""
    names = {"query_id": "query", "document_id": "document"}
    pairs = candidates.rename(columns=names)[["query", "document", "relevance"]]
    return pairs.drop_duplicates(["query", "document"]).reset_index(drop=True)


def scores_by_fold(
    pairs: pd.DataFrame,
    folds: Sequence[pd.DataFrame],
    train_model: Callable[[int, pd.DataFrame], tuple[LastLayer, Vectors]],
    *,
    fisher_pairs: int | None,
    prior: float,
    samples: int,
    seed: int,
) -> pd.DataFrame:
    """Mean and deviation of the log odds of each pair, by the model of its fold."""
    frames = []
    for number, fold in enumerate(folds):
        split = fold.set_index("query_id")["split"]
        pair_split = pairs["query"].map(split)
        training, held_out = pairs[pair_split == "train"], pairs[pair_split == "test"]
        head, vectors = train_model(number, training)
        # Each fold has its own generator, so it does not depend on earlier folds.
        rng = np.random.default_rng([seed, number])
        if fisher_pairs is not None and fisher_pairs < len(training):
            training = training.iloc[
                np.sort(rng.choice(len(training), fisher_pairs, replace=False))
            ]
        frames.append(
            pair_scores(held_out, head, vectors, training, prior=prior, samples=samples, rng=rng)
        )
    return pd.concat(frames, ignore_index=True)


def pair_scores(
    pairs: pd.DataFrame,
    head: LastLayer,
    vectors: Vectors,
    training: pd.DataFrame,
    *,
    prior: float,
    samples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Mean and deviation of the log odds of each pair by one model."""
    fisher = fisher_diagonal(head, vectors(training))
    rows = vectors(pairs)
    mean, deviation = log_odds_distribution(head, fisher, rows, prior=prior)
    sampled_mean, sampled_deviation = sampled_distribution(
        head, fisher, rows, samples=samples, rng=rng, prior=prior, log_probability=True
    )
    return pairs[["query", "document"]].assign(
        mean=mean,
        deviation=deviation,
        sampled_mean=sampled_mean,
        sampled_deviation=sampled_deviation,
    )


def training_pairs(judgements: pd.DataFrame, pairs: int, rng: np.random.Generator) -> pd.DataFrame:
    """Pairs of queries with their relevant passage, and with that of another query."""
    relevant = judgements[judgements["relevance"] > 0].drop_duplicates("query")
    if len(relevant) < 2:
        raise ValueError(
            f"{len(relevant)} training queries have a relevant passage, expected at least 2; use "
            "the training judgements of MS MARCO."
        )
    number = min(pairs // 2, len(relevant))
    sample = relevant.iloc[np.sort(rng.choice(len(relevant), number, replace=False))]
    keys = sample[["query", "document"]].reset_index(drop=True)
    # Each query gets the passage of the next query, never its own.
    mismatched = keys.assign(document=np.roll(keys["document"], -1))
    return pd.concat([keys, mismatched], ignore_index=True)


def product_vectors(encoded: Encoded, pairs: pd.DataFrame) -> FloatArray:
    """Element-wise product of query and document vectors, times their dimension."""
    queries = pd.Index(encoded.query_ids).get_indexer(pairs["query"])
    documents = pd.Index(encoded.document_ids).get_indexer(pairs["document"])
    if min(queries.min(), documents.min()) < 0:
        raise ValueError("A query or document of the pairs has no embedding; encode it first.")
    entries = np.asarray(encoded.queries)[queries] * np.asarray(encoded.documents)[documents]
    return entries * entries.shape[1]


def train_head(vectors: FloatArray, relevance: npt.ArrayLike, *, strength: float) -> LastLayer:
    """Fit a logistic regression, as a last layer with one logit."""
    from sklearn.linear_model import LogisticRegression

    # Newton's method reaches the optimum; the default solver stops at its tolerance.
    model = LogisticRegression(C=strength, solver="newton-cholesky", max_iter=100, tol=1e-8)
    fitted = model.fit(vectors, np.asarray(relevance))
    return LastLayer(fitted.coef_, fitted.intercept_)
