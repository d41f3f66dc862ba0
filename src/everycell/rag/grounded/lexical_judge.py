"""A lexical judge: it predicts from words whether a language model finds a fact in a response.

A logistic regression on lexical features is trained on labels by language models. Its errors on
held-out topics (`imitation`) show how far its judgements of other responses can be trusted.
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

from everycell.base.arrays import FloatArray
from everycell.rag.grounded.clusters import stems
from everycell.text.sentences import sentence_spans

#: Features of a fact and a response. Weighted shares of the fact's words weight each word by its
#: rarity. New words are those that the question lacks.
FEATURES = (
    "share of the fact's words in the response",
    "weighted share in the response",
    "largest weighted share in a sentence",
    "mean weighted share in a sentence",
    "weighted share of new words in the response",
    "largest weighted share of new words in a sentence",
    "share of the fact's bigrams in the response",
    "share of words that are new",
    "number of words of the fact",
    "mean rarity of the fact's words",
    "logarithm of the number of words of the response",
)


def _word_pairs(text: str) -> list[str]:
    words = stems(text)
    return [f"{first} {second}" for first, second in zip(words, words[1:], strict=False)]


class Words:
    """Lexical features, weighted by the rarity of words in a collection of responses."""

    def __init__(self, responses: Sequence[str]) -> None:
        counter = CountVectorizer(analyzer=stems, binary=True)
        response_counts = np.asarray(counter.fit_transform(responses).sum(axis=0)).ravel()
        total = len(responses)
        self._weights = {
            term: float(np.log((total + 1) / (response_counts[column] + 0.5)))
            for term, column in counter.vocabulary_.items()
        }
        self._unknown = float(np.log((total + 1) / 0.5))

    def features(self, facts: Sequence[str], question: str, responses: Sequence[str]) -> FloatArray:
        """Features of each fact of a topic in each of its responses."""
        sentences_by_response = [
            [text[start:end] for start, end in sentence_spans(text)] or [""] for text in responses
        ]
        sentences = [sentence for part in sentences_by_response for sentence in part]
        lengths = [len(part) for part in sentences_by_response]
        starts = np.cumsum([0] + lengths[:-1])
        counter = CountVectorizer(analyzer=stems, binary=True)
        counts = counter.fit_transform([*facts, question, *responses, *sentences, "none"])
        terms = counter.get_feature_names_out()
        idf = np.array([self._weights.get(term, self._unknown) for term in terms])
        n, m = len(facts), len(responses)
        in_facts, in_question = counts[:n], counts[n]
        only_in_facts = in_facts - in_facts.multiply(in_question)
        in_responses, in_sentences = counts[n + 1 : n + 1 + m], counts[n + 1 + m : -1]

        def share(rows: sparse.spmatrix, weights: FloatArray, texts: sparse.spmatrix) -> FloatArray:
            weighted = sparse.csr_array(rows.multiply(weights))
            totals = np.asarray(weighted.sum(axis=1)).ravel()
            return np.asarray((weighted @ texts.T).todense()) / np.maximum(totals, 1e-9)[:, None]

        equal_weights = np.ones(len(terms))
        shares_in_sentences = share(in_facts, idf, in_sentences)
        pairs = CountVectorizer(analyzer=_word_pairs, binary=True)
        paired = pairs.fit_transform([*facts, *responses, "of none"])
        sizes = np.asarray(in_facts.sum(axis=1)).ravel()
        rarity = np.asarray(in_facts.multiply(idf).sum(axis=1)).ravel() / np.maximum(sizes, 1)
        new_share = np.asarray(only_in_facts.sum(axis=1)).ravel() / np.maximum(sizes, 1)
        response_sizes = np.log1p([len(stems(text)) for text in responses])
        columns = [
            share(in_facts, equal_weights, in_responses),
            share(in_facts, idf, in_responses),
            np.maximum.reduceat(shares_in_sentences, starts, axis=1),
            np.add.reduceat(shares_in_sentences, starts, axis=1) / lengths,
            share(only_in_facts, idf, in_responses),
            np.maximum.reduceat(share(only_in_facts, idf, in_sentences), starts, axis=1),
            share(paired[:n], np.ones(paired.shape[1]), paired[n:-1]),
            *(np.broadcast_to(values[:, None], (n, m)) for values in (new_share, sizes, rarity)),
            np.broadcast_to(response_sizes, (n, m)),
        ]
        return np.stack(columns, axis=-1)


def labelled_features(
    labels: pd.DataFrame,
    responses: Mapping[tuple[str, str], str],
    questions: Mapping[str, str],
    words: Words,
) -> tuple[pd.DataFrame, FloatArray]:
    """Labels, and the features of each labelled fact and response."""
    known = pd.MultiIndex.from_tuples(list(responses), names=["run", "topic"])
    rows = labels[pd.MultiIndex.from_frame(labels[["run", "topic"]]).isin(known)]
    parts, features = [], []
    for topic, topic_rows in rows.groupby("topic", sort=False):
        facts, runs = list(topic_rows["text"].unique()), list(topic_rows["run"].unique())
        by_response = words.features(
            facts, questions[topic], [responses[run, topic] for run in runs]
        )
        positions = topic_rows["text"].map(facts.index), topic_rows["run"].map(runs.index)
        parts.append(topic_rows)
        features.append(by_response[positions[0].to_numpy(), positions[1].to_numpy()])
    return pd.concat(parts), np.concatenate(features)


def train_judge(features: FloatArray, supported: npt.ArrayLike) -> Pipeline:
    """Logistic regression from features to the probability that the fact is supported."""
    judge = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return judge.fit(features, np.asarray(supported, dtype=bool))


def imitation(rows: pd.DataFrame, probabilities: npt.ArrayLike) -> dict[str, float]:
    """Agreement of predicted probabilities with held-out labels."""
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
    """For each response, the share of its topic's facts that it supports."""
    values = rows[["run", "topic"]].assign(value=np.asarray(supported, float))
    return values.groupby(["run", "topic"])["value"].mean()
