"""Table C.7 of lajewska2025: human nuggets that responses support, by imitated judges."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.pipeline import Pipeline

from everycell.jobs.result_job import ResultJob
from everycell.rag.grounded.lexical_judge import (
    Words,
    imitation,
    labelled_features,
    supported_shares,
    train_judge,
)
from everycell.rag.nuggets import rank_agreement
from papers.lajewska2025.ch6_labels import JUDGES, read_nugget_labels, read_responses
from papers.lajewska2025.ch6_scores import MEAN, TEST_DECIMALS, compare_runs
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
