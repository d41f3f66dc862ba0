"""Nuggets created by a language model, and the nuggets that responses support."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Template

import pandas as pd

from everycell.rag.grounded.autonuggetizer import (
    Ask,
    assign_nuggets,
    create_nuggets,
    label_importance,
)
from everycell.rag.nuggets import MEASURES, covered_share, nugget_scores
from everycell.studies.lajewska2025.ch6.nuggets import NAMES

#: Decimals of the values of `shared_facts`.
SHARED_FACTS_DECIMALS = {
    "found": 3,
    "found by chance": 3,
    "known": 3,
    "created": 1,
    "released": 1,
    "topics": 0,
}


def create_topic_nuggets(
    passages: pd.DataFrame, ask: Ask, prompts: Mapping[str, Template]
) -> pd.DataFrame:
    """Create facts from the passages of each topic, and label their importance."""
    topics = [
        (str(topic), rows["question"].iloc[0], rows["text"].tolist())
        for topic, rows in passages.groupby("topic", sort=False)
    ]
    facts_by_topic = create_nuggets(
        [(question, texts) for _, question, texts in topics], ask, template=prompts.get("create")
    )
    labels_by_topic = label_importance(
        [(question, facts) for (_, question, _), facts in zip(topics, facts_by_topic, strict=True)],
        ask,
        template=prompts.get("importance"),
    )
    rows = [
        (topic, number, text, label)
        for (topic, *_), facts, labels in zip(topics, facts_by_topic, labels_by_topic, strict=True)
        for number, (text, label) in enumerate(zip(facts, labels, strict=True), 1)
    ]
    return pd.DataFrame(rows, columns=["topic", "nugget", "text", "importance"])


def assign_topic_nuggets(
    nuggets: pd.DataFrame, responses: pd.DataFrame, ask: Ask, template: Template | None = None
) -> pd.DataFrame:
    """Label which facts of its topic each response supports."""
    nuggets_by_topic = dict(list(nuggets.groupby("topic", sort=False)))
    rows = [row for row in responses.itertuples(index=False) if row.topic in nuggets_by_topic]
    labels_by_response = assign_nuggets(
        [(row.question, row.text, nuggets_by_topic[row.topic]["text"].tolist()) for row in rows],
        ask,
        template=template,
    )
    columns = ["run", "topic", "nugget", "importance", "support"]
    parts = [
        nuggets_by_topic[row.topic][["topic", "nugget", "importance"]].assign(
            run=row.run, support=list(labels)
        )
        for row, labels in zip(rows, labels_by_response, strict=True)
    ]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def mean_nugget_scores(labels: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """Means over topics of all nugget scores: columns `judge`, `row`, `metric`, `value`."""
    parts = []
    for measure in MEASURES:
        scores = nugget_scores(labels, responses, measure)
        means = scores.groupby(["judge", "run"], sort=False, as_index=False)["value"].mean()
        parts.append(means.assign(row=means["run"].map(NAMES), metric=measure))
    return pd.concat(parts, ignore_index=True)[["judge", "row", "metric", "value"]]


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
