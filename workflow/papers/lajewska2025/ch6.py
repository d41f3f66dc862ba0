"""Chapter 6 of lajewska2025: scores of responses to TREC RAG 2024 (Tables 6.7 and 6.8).

Functions of the rules in ``ch6.smk`` and ``ch6_rag24.smk`` that read labels of nuggets.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.base.untrusted import read_json
from everycell.jobs.result_job import ResultJob
from everycell.render.figures import agreement_panels
from papers.lajewska2025.ch6_labels import (
    JUDGES,
    PARTS,
    SYSTEMS,
    NuggetLabels,
    read_nugget_labels,
)
from papers.lajewska2025.ch6_scores import (
    MEAN,
    MEASURES,
    NAMES,
    TEST_DECIMALS,
    add_mean,
    change_effects,
    compare_runs,
    covered_share,
    judge_agreement,
    lowercase_importance,
    mean_scores,
    name_scores,
    nugget_scores,
    unify_importance,
)

#: Interpretations of importance labels; the published table uses the first.
READINGS = {
    "as spelled": lambda nuggets: nuggets,
    "any spelling": lowercase_importance,
    "one key": unify_importance,
}
AGREEMENT_DECIMALS = {
    "mean difference": 3,
    "mean absolute difference": 3,
    "pearson, responses": 3,
    "tau, responses": 3,
    "tau in a topic": 3,
    "topics": 0,
    "tau, systems": 3,
}
#: Decimals of the values of `shared_facts`.
SHARED_FACTS_DECIMALS = {
    "found": 3,
    "found by chance": 3,
    "known": 3,
    "created": 1,
    "released": 1,
    "topics": 0,
}
#: Change to the standard system (BERTopic, DuoT5) -> clustering and ranking.
CHANGES = {
    "BM25 for DuoT5": ("BERTopic", "BM25"),
    "LSA for BERTopic": ("LSA", "DuoT5"),
    "both": ("LSA", "BM25"),
}
#: The standard system with fewer passages, from Table 6.7.
SMALLER_INPUT = "GINGER-top10 wo/ rewriting"


def shared_facts(created: pd.DataFrame, released: pd.DataFrame) -> dict[str, float]:
    """Overlap of created facts with the facts of one of the thesis's judges, on shared topics."""
    created_facts, released_facts = (
        {str(topic): list(texts) for topic, texts in frame.groupby("topic", sort=False)["text"]}
        for frame in (created, released)
    )
    topics = [topic for topic in created_facts if topic in released_facts]
    other_topics = topics[1:] + topics[:1]
    summary = {
        "created": _mean(len(created_facts[topic]) for topic in topics),
        "released": _mean(len(released_facts[topic]) for topic in topics),
        "found": _mean(
            covered_share(released_facts[topic], created_facts[topic]) for topic in topics
        ),
        "known": _mean(
            covered_share(created_facts[topic], released_facts[topic]) for topic in topics
        ),
        "topics": float(len(topics)),
    }
    if len(topics) > 1:
        summary["found by chance"] = _mean(
            covered_share(released_facts[topic], created_facts[other])
            for topic, other in zip(topics, other_topics, strict=True)
        )
    return summary


def _mean(values: Iterable[float]) -> float:
    return float(pd.Series(list(values), dtype=float).mean())


class JudgeTables(NamedTuple):
    """Table 6.7 (`cells`) and its supplementary tables."""

    cells: pd.DataFrame
    agreement: pd.DataFrame
    nuggets: pd.DataFrame
    readings: pd.DataFrame
    rewriting: pd.DataFrame


def judge_tables(labels: NuggetLabels) -> JudgeTables:
    """Table 6.7 and its supplementary tables."""
    scores = {name: name_scores(labels, alter(labels.nuggets)) for name, alter in READINGS.items()}
    published = add_mean(scores["as spelled"])
    by_reading = {name: mean_scores(add_mean(frame)) for name, frame in scores.items()}
    cells = by_reading["as spelled"].rename(columns={"run": "row"})
    cells["metric"] = "V_strict " + cells["judge"]
    agreement = pd.concat(
        judge_agreement(frame).assign(importance=name) for name, frame in scores.items()
    )
    readings = pd.concat(frame.assign(metric=name) for name, frame in by_reading.items())
    rewriting = pd.concat(
        compare_runs(rows, [("GINGER-top5", "GINGER-top5 wo/ rewriting")]).assign(judge=judge)
        for judge, rows in published.groupby("judge", sort=False)
    )
    return JudgeTables(
        cells.loc[cells["row"].isin(SYSTEMS), ["row", "metric", "value"]],
        agreement[["importance", "judges", "metric", "value"]],
        common_nuggets(labels.nuggets),
        readings.rename(columns={"run": "row"})[["judge", "row", "metric", "value"]],
        rewriting.melt("judge", list(TEST_DECIMALS), "metric"),
    )


def released_scores(labels: NuggetLabels) -> pd.DataFrame:
    """Released and reproduced scores, with the number of responses of each pair."""
    scores = nugget_scores(labels.nuggets, labels.responses)
    pairs = scores.merge(labels.responses, on=["judge", "run", "topic"], validate="one_to_one")
    # Equal fractions may differ in the last bit.
    pairs = pairs.round({"released": 9, "value": 9})
    counts = pairs.groupby(["judge", "released", "value"]).size().rename("responses").reset_index()
    parts = [counts[counts["judge"] == judge].assign(judge=name) for name, judge in JUDGES.items()]
    return pd.concat(parts, ignore_index=True)


def common_nuggets(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Share of each judge's nuggets that each other judge also has."""
    lists = nuggets.drop_duplicates(["judge", "topic", "nugget"])
    rows = [
        (f"{name} in {other}", metric, value)
        for name, other in itertools.permutations(JUDGES, 2)
        for metric, value in shared_facts(
            lists[lists["judge"] == JUDGES[other]], lists[lists["judge"] == JUDGES[name]]
        ).items()
        if metric in ("found", "found by chance", "topics")
    ]
    return pd.DataFrame(rows, columns=["nuggets", "metric", "value"])


def judges(job: ResultJob) -> None:
    """Table 6.7: V_strict of each system by three judges, and their agreement."""
    labels = read_nugget_labels(*map(Path, job.input.labels))
    tables = judge_tables(labels)
    job.write_table(tables.cells)
    job.write_supplement(tables.agreement, "agreement", AGREEMENT_DECIMALS)
    job.write_supplement(tables.nuggets, "nuggets", SHARED_FACTS_DECIMALS)
    job.write_supplement(tables.readings, "readings", dict.fromkeys(READINGS, 3))
    job.write_supplement(tables.rewriting, "rewriting", TEST_DECIMALS)
    scores = released_scores(labels)
    job.write_figure(
        scores,
        agreement_panels(
            scores,
            x="released",
            y="value",
            count="responses",
            panel="judge",
            x_label="Released score of a response",
            y_label="Reproduced score",
        ),
        "responses",
    )


def write_parts(job: ResultJob, scores: pd.DataFrame) -> None:
    """Write Table 6.8, tests of each variant against the standard one, and effects of changes."""
    scores = scores[scores["judge"] == MEAN]
    by_run = mean_scores(scores).set_index("run")["value"]
    runs = {parts: NAMES[run] for parts, run in PARTS.items()}
    keys = pd.DataFrame(list(runs), columns=["clustering", "ranking"])
    values = [by_run[run] for run in runs.values()]
    job.write_table(keys.assign(metric=f"V_strict {MEAN}", value=values))
    standard, *other_runs = runs.values()
    differences = compare_runs(scores, [(run, standard) for run in other_runs])
    table = keys.iloc[1:].reset_index(drop=True).join(differences[list(TEST_DECIMALS)])
    tests = table.melt(["clustering", "ranking"], list(TEST_DECIMALS), "metric")
    job.write_supplement(tests, "tests", TEST_DECIMALS)
    changes = {name: (runs[parts], standard) for name, parts in CHANGES.items()}
    changes |= {"10 passages for 20": (SMALLER_INPUT, standard)}
    decimals = {"difference": 3, "low": 3, "high": 3, "p": 4}
    job.write_supplement(change_effects(scores, changes), "changes", decimals)


def parts(job: ResultJob) -> None:
    """Table 6.8: mean V_strict of GINGER by clustering and ranking, with tests."""
    labels = read_nugget_labels(*map(Path, job.input.labels))
    write_parts(job, add_mean(name_scores(labels, labels.nuggets)))


def strict_scores(by_judge: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """V_strict of each response by each judge, and the mean of three judges."""
    labels = pd.concat(by_judge.values(), ignore_index=True)
    responses = labels[["judge", "run", "topic"]].drop_duplicates()
    scores = nugget_scores(labels, responses)
    scores = scores.assign(run=scores["run"].map(NAMES))
    return add_mean(scores) if len(by_judge) == 3 else scores


def mean_nugget_scores(labels: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """Means over topics of all nugget scores: columns `judge`, `row`, `metric`, `value`."""
    parts = []
    for measure in MEASURES:
        scores = nugget_scores(labels, responses, measure)
        means = scores.groupby(["judge", "run"], sort=False, as_index=False)["value"].mean()
        parts.append(means.assign(row=means["run"].map(NAMES), metric=measure))
    return pd.concat(parts, ignore_index=True)[["judge", "row", "metric", "value"]]


def judged_again(job: ResultJob) -> None:
    """Table 6.7 with the user's language models as judges, on released or on new responses."""
    files = job.input
    job.facts["language_models"] = [read_json(file) for file in (*files.provenance, *files.further)]
    by_judge = {}
    for path in map(Path, files.labels):
        labels = pd.read_parquet(path)
        by_judge[str(labels["judge"].iloc[0])] = labels
    # A fact without a label counts as not supported.
    job.facts["without_a_label"] = {
        name: int(((labels["nugget"] > 0) & (labels["support"] == "")).sum())
        for name, labels in by_judge.items()
    }
    table = mean_scores(strict_scores(by_judge)).rename(columns={"run": "row"})
    table["metric"] = "V_strict " + table["judge"]
    job.write_table(table.loc[table["row"].isin(SYSTEMS), ["row", "metric", "value"]])
    if files.created:
        nuggets = pd.concat(map(pd.read_parquet, files.created), ignore_index=True)
        labels = pd.concat(map(pd.read_parquet, files.assigned), ignore_index=True)
        responses = pd.read_parquet(files.responses)[["run", "topic"]]
        responses_by_judge = pd.concat(
            [responses.assign(judge=judge) for judge in nuggets["judge"].unique()],
            ignore_index=True,
        )
        scores = mean_nugget_scores(labels, responses_by_judge)
        job.write_supplement(scores, "created", dict.fromkeys(scores["metric"].unique(), 3))
        released = read_nugget_labels(*map(Path, files.released)).nuggets
        released = released.drop_duplicates(["judge", "topic", "nugget"])
        rows = [
            (judge, metric, value)
            for judge, own in nuggets.groupby("judge", sort=False)
            for metric, value in shared_facts(
                own, released[released["judge"] == JUDGES[str(judge)]]
            ).items()
        ]
        table = pd.DataFrame(rows, columns=["judge", "metric", "value"])
        job.write_supplement(table, "created_agreement", SHARED_FACTS_DECIMALS)


def parts_again(job: ResultJob) -> None:
    """Table 6.8 with three of the user's language models as judges."""
    job.facts["language_models"] = [read_json(file) for file in job.input.provenance]
    labels = [pd.read_parquet(path) for path in job.input.labels]
    write_parts(job, strict_scores({str(frame["judge"].iloc[0]): frame for frame in labels}))
