"""Completeness of responses by imitated judges, in chapter 6 of lajewska2025 (Table C.7).

A logistic regression on lexical features is trained on labels by language models. Its errors on
held-out topics (`imitation`) show how far its judgements of other responses can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse, stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from everycell.base.arrays import FloatArray
from everycell.jobs.result_job import ResultJob
from everycell.rag.nugget_responses import stems
from everycell.text.sentences import sentence_spans
from papers.lajewska2025.ch6_labels import JUDGES, read_nugget_labels, read_responses
from papers.lajewska2025.ch6_scores import MEAN, TEST_DECIMALS, compare_runs, rank_agreement
from papers.lajewska2025.ch6_systems import (
    BASELINE,
    GOLD,
    RELEVANT,
    STANDARD,
    drop_sparse_topics,
    join_sentences,
)

Texts = Mapping[tuple[str, str], str]
WRITERS = {"value": 3, "low": 3, "high": 3, "topics": 0, "words": 1}
AGREEMENT = ("AUC", "kappa", "difference", "absolute difference", "tau, systems", "low", "high")


class Imitations(NamedTuple):
    """Imitations of the judges, with their errors on held-out topics."""

    words: Words
    #: Name of a judge -> its imitation.
    judges: dict[str, Pipeline]
    #: Columns `judge`, `metric` and `value`.
    errors: pd.DataFrame
    #: Agreement on the order of the systems: metrics "tau, systems", "low" and "high".
    orders: pd.DataFrame


def imitate(
    labels: pd.DataFrame,
    responses: Texts,
    questions: Mapping[str, str],
    *,
    train_share: float,
    seed: int,
    resamples: int,
) -> Imitations:
    """Train an imitation of each judge on a share of the topics; evaluate it on the others."""
    words = Words(list(responses.values()))
    topics = np.array(sorted(labels["topic"].unique()))
    shuffled = np.random.default_rng(seed).permutation(topics)
    training_topics = shuffled[: round(train_share * len(topics))]
    judges, errors, orders = {}, [], []
    for name, key in JUDGES.items():
        rows, features = labelled_features(
            labels[labels["judge"] == key], responses, questions, words
        )
        in_training = rows["topic"].isin(training_topics).to_numpy()
        judge = train_judge(features[in_training], rows.loc[in_training, "support"] == "support")
        held_out = rows[~in_training]
        probabilities = judge.predict_proba(features[~in_training])[:, 1]
        errors += [
            (name, metric, value) for metric, value in imitation(held_out, probabilities).items()
        ]
        shares = {
            name: supported_shares(held_out, held_out["support"] == "support"),
            "imitation": supported_shares(held_out, probabilities),
        }
        complete = pd.concat(
            [share.unstack("run").dropna().stack() for share in shares.values()],
            axis=1,
            keys=list(shares),
            join="inner",
        )
        values = complete.melt(ignore_index=False, var_name="judge").reset_index()
        tau = rank_agreement(values, seed=seed, resamples=resamples).iloc[0]
        orders += [
            (name, metric, float(tau[column]))
            for metric, column in (("tau, systems", "value"), ("low", "low"), ("high", "high"))
        ]
        judges[name] = judge
    columns = ["judge", "metric", "value"]
    return Imitations(
        words, judges, pd.DataFrame(errors, columns=columns), pd.DataFrame(orders, columns=columns)
    )


def completeness_scores(
    imitations: Imitations,
    facts: pd.DataFrame,
    responses: pd.DataFrame,
    questions: Mapping[str, str],
) -> pd.DataFrame:
    """Mean probability that a response supports the human nuggets of its topic."""
    parts = []
    facts_by_topic = facts.groupby("topic")["text"].agg(list)
    for topic, rows in responses.groupby("topic", sort=False):
        if topic not in facts_by_topic:
            continue
        features = imitations.words.features(
            facts_by_topic[topic], questions[str(topic)], rows["text"].tolist()
        )
        flat = features.reshape(-1, features.shape[-1])
        for name, judge in imitations.judges.items():
            support = judge.predict_proba(flat)[:, 1].reshape(features.shape[:2]).mean(axis=0)
            # An empty response supports nothing; the regression may give it a probability.
            support = np.where(rows["text"].str.strip() == "", 0.0, support)
            parts.append(rows[["input", "system", "topic"]].assign(judge=name, value=support))
    by_judge = pd.concat(parts, ignore_index=True)
    keys = ["input", "system", "topic"]
    mean = by_judge.groupby(keys, sort=False, as_index=False)["value"].mean().assign(judge=MEAN)
    return pd.concat([by_judge, mean], ignore_index=True)[["judge", *keys, "value"]]


def completeness_tables(scores: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells of Table C.7, and tests of each system against the standard one."""
    mean = scores[scores["judge"] == MEAN]
    cells = mean.groupby(["system", "input"], sort=False, as_index=False)["value"].mean()
    cells = cells.rename(columns={"system": "row"}).assign(metric="Completeness")
    runs = mean[mean["input"] == RELEVANT].rename(columns={"system": "run"})
    pairs = [(run, STANDARD) for run in runs["run"].unique() if run != STANDARD]
    tests = compare_runs(runs, pairs).rename(columns={"a": "row"})
    return (
        cells[["row", "input", "metric", "value"]],
        tests.melt("row", list(TEST_DECIMALS), "metric"),
    )


def compare_writers(
    imitations: Imitations,
    facts: pd.DataFrame,
    responses: Mapping[str, pd.DataFrame],
    questions: Mapping[str, str],
) -> pd.DataFrame:
    """Completeness and length of responses by writer, on topics of the models' responses."""
    extracted, *written = (frame.assign(writer=name) for name, frame in responses.items())
    topics = set().union(*(set(frame["topic"]) for frame in written))
    compared = pd.concat(
        [extracted[extracted["system"].isin([BASELINE, STANDARD])], *written], ignore_index=True
    )
    compared = compared[compared["topic"].isin(topics) & (compared["input"] == RELEVANT)]
    compared = compared.assign(system=compared["writer"] + ": " + compared["system"])
    scores = completeness_scores(imitations, facts, compared, questions)
    intervals = mean_intervals(scores[scores["judge"] == MEAN], ["system"])
    words = compared.assign(value=compared["text"].str.split().str.len()).groupby("system")["value"]
    return pd.concat([intervals, words.mean().reset_index().assign(metric="words")])


def mean_intervals(scores: pd.DataFrame, by: list[str], *, min_topics: int = 10) -> pd.DataFrame:
    """Mean over topics, its 95 % t interval and the number of topics."""
    rows = []
    for keys, group in scores.groupby(by, sort=False):
        values = group["value"].to_numpy()
        summary = {"value": values.mean()}
        if len(values) >= min_topics:
            summary["low"], summary["high"] = stats.t.interval(
                0.95, len(values) - 1, loc=values.mean(), scale=stats.sem(values)
            )
        summary["topics"] = len(values)
        rows += [(*keys, metric, float(value)) for metric, value in summary.items()]
    return pd.DataFrame(rows, columns=[*by, "metric", "value"])


def completeness(job: ResultJob) -> None:
    """Table C.7: completeness of each variant on human nuggets, by imitations of the judges."""
    files, params = job.input, job.params
    released = read_responses(map(Path, files.responses))
    imitations = imitate(
        read_nugget_labels(*map(Path, files.labels)).nuggets,
        released.set_index(["run", "topic"])["text"].to_dict(),
        released.set_index("topic")["question"].to_dict(),
        train_share=params.trained,
        seed=params.seed,
        resamples=params.resamples,
    )
    nuggets = pd.read_parquet(files.nuggets)
    facts = drop_sparse_topics(nuggets[nuggets["detection"] == GOLD])
    questions = pd.read_parquet(files.passages).groupby("topic")["question"].first().to_dict()
    paths = dict(zip(params.models, files.written, strict=True))
    responses = {
        writer: join_sentences(pd.read_parquet(path))
        for writer, path in {"extracted": files.extracted, **paths}.items()
    }
    cells, tests = completeness_tables(
        completeness_scores(imitations, facts, responses["extracted"], questions)
    )
    job.write_table(cells)
    job.write_supplement(tests, "tests", TEST_DECIMALS)
    errors = pd.concat([imitations.errors, imitations.orders], ignore_index=True)
    job.write_supplement(errors, "judge", dict.fromkeys(AGREEMENT, 3) | {"facts": 0})
    writers = compare_writers(imitations, facts, responses, questions)
    job.write_supplement(writers, "writers", WRITERS)


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
