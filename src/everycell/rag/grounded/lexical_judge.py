"""A judge that costs nothing: it predicts from words whether a language model finds a fact.

Labels that language models gave (`everycell.collections.nugget_labels`) train a logistic regression
on features of words. Its own errors are measured on topics that it has not seen (`imitation`),
which show how far its judgements of other responses can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from everycell.engine.arrays import FloatArray
from everycell.rag.grounded.clusters import stems
from everycell.text.sentences import sentence_spans

#: Features of a fact and a response, each from 0 to 1 but for the last three.
FEATURES = (
    "words of the fact in the response",
    "the same, rare words weighing more",
    "the same in the best sentence",
    "the same, mean of the sentences",
    "words of the fact that the question lacks, in the response",
    "the same in the best sentence",
    "pairs of words in the response",
    "share of the fact's words that the question lacks",
    "words of the fact",
    "rarity of the fact's words",
    "words of the response, logarithm",
)


def _pairs_of(text: str) -> list[str]:
    words = stems(text)
    return [f"{one} {other}" for one, other in zip(words, words[1:], strict=False)]


class Words:
    """Words of texts, with their rarity in a collection of responses."""

    def __init__(self, responses: Sequence[str]) -> None:
        counter = CountVectorizer(analyzer=stems, binary=True)
        having = np.asarray(counter.fit_transform(responses).sum(axis=0)).ravel()
        total = len(responses)
        self._weights = {
            term: float(np.log((total + 1) / (having[column] + 0.5)))
            for term, column in counter.vocabulary_.items()
        }
        self._unknown = float(np.log((total + 1) / 0.5))

    def features(self, facts: Sequence[str], question: str, responses: Sequence[str]) -> FloatArray:
        """Features of each fact of a topic in each of its responses."""
        cut = [
            [text[start:end] for start, end in sentence_spans(text)] or [""] for text in responses
        ]
        sentences = [sentence for part in cut for sentence in part]
        starts = np.cumsum([0] + [len(part) for part in cut[:-1]])
        counter = CountVectorizer(analyzer=stems, binary=True)
        every = counter.fit_transform([*facts, question, *responses, *sentences, "none"])
        terms = counter.get_feature_names_out()
        idf = np.array([self._weights.get(term, self._unknown) for term in terms])
        n, m = len(facts), len(responses)
        own, question_vector = every[:n], every[n]
        new = own - own.multiply(question_vector)
        of_responses, of_sentences = every[n + 1 : n + 1 + m], every[n + 1 + m : -1]

        def share(rows: sparse.spmatrix, weights: FloatArray, texts: sparse.spmatrix) -> FloatArray:
            weighted = sparse.csr_array(rows.multiply(weights))
            totals = np.asarray(weighted.sum(axis=1)).ravel()
            return np.asarray((weighted @ texts.T).todense()) / np.maximum(totals, 1e-9)[:, None]

        alike = np.ones(len(terms))
        in_sentences = share(own, idf, of_sentences)
        pairs = CountVectorizer(analyzer=_pairs_of, binary=True)
        paired = pairs.fit_transform([*facts, *responses, "of none"])
        sizes = np.asarray(own.sum(axis=1)).ravel()
        rarity = np.asarray(own.multiply(idf).sum(axis=1)).ravel() / np.maximum(sizes, 1)
        left = np.asarray(new.sum(axis=1)).ravel() / np.maximum(sizes, 1)
        lengths = np.log1p([len(stems(text)) for text in responses])
        columns = [
            share(own, alike, of_responses),
            share(own, idf, of_responses),
            np.maximum.reduceat(in_sentences, starts, axis=1),
            np.add.reduceat(in_sentences, starts, axis=1) / [len(part) for part in cut],
            share(new, idf, of_responses),
            np.maximum.reduceat(share(new, idf, of_sentences), starts, axis=1),
            share(paired[:n], np.ones(paired.shape[1]), paired[n:-1]),
            *(np.broadcast_to(values[:, None], (n, m)) for values in (left, sizes, rarity)),
            np.broadcast_to(lengths, (n, m)),
        ]
        return np.stack(columns, axis=-1)


def labelled_features(
    labels: pd.DataFrame,
    responses: Mapping[tuple[str, str], str],
    questions: Mapping[str, str],
    words: Words,
) -> tuple[pd.DataFrame, FloatArray]:
    """Features of all labelled facts.

    Examples
    --------
    >>> labels = pd.DataFrame([("r", "1", "owls eat", "support")],
    ...     columns=["run", "topic", "text", "support"])
    >>> rows, found = labelled_features(labels, {("r", "1"): "Owls eat mice."}, {"1": "Owls?"},
    ...     Words(["Owls eat mice."]))
    >>> len(rows), found.shape
    (1, (1, 11))
    """
    known = pd.MultiIndex.from_tuples(list(responses), names=["run", "topic"])
    rows = labels[pd.MultiIndex.from_frame(labels[["run", "topic"]]).isin(known)]
    parts, features = [], []
    for topic, own in rows.groupby("topic", sort=False):
        facts, runs = list(own["text"].unique()), list(own["run"].unique())
        by_response = words.features(
            facts, questions[topic], [responses[run, topic] for run in runs]
        )
        positions = own["text"].map(facts.index), own["run"].map(runs.index)
        parts.append(own)
        features.append(by_response[positions[0].to_numpy(), positions[1].to_numpy()])
    return pd.concat(parts), np.concatenate(features)


def train_judge(features: FloatArray, supported: npt.ArrayLike) -> Pipeline:
    """Logistic regression from features to the probability that the fact is supported."""
    judge = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return judge.fit(features, np.asarray(supported, dtype=bool))


def imitation(rows: pd.DataFrame, probabilities: npt.ArrayLike) -> dict[str, float]:
    """Agreement of probabilities with held-out labels."""
    scores = np.asarray(probabilities, float)
    supported = (rows["support"] == "support").to_numpy()
    predicted = np.zeros(len(scores), bool)
    predicted[np.argsort(-scores, kind="stable")[: int(supported.sum())]] = True
    shares = supported_shares(rows, scores) - supported_shares(rows, supported)
    return {
        "AUC": float(roc_auc_score(supported, scores)),
        "kappa": float(cohen_kappa_score(supported, predicted)),
        "difference": float(shares.groupby("run").mean().mean()),
        "absolute difference": float(shares.groupby("run").mean().abs().mean()),
        "facts": float(len(rows)),
    }


def supported_shares(rows: pd.DataFrame, supported: npt.ArrayLike) -> pd.Series:
    """Share of a topic's facts that each response supports."""
    values = rows[["run", "topic"]].assign(value=np.asarray(supported, float))
    return values.groupby(["run", "topic"])["value"].mean()
