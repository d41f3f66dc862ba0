"""Responses judged by a language model on the facts of a judge of the thesis."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from string import Template

import pandas as pd

from everycell.rag.grounded.autonuggetizer import Ask, assign_nuggets
from everycell.rag.nuggets import nugget_scores, unify_importance
from everycell.studies.lajewska2025.ch6.nuggets import NAMES, add_mean

_KEYS = ["run", "topic", "nugget"]


def judge_again(
    labels: pd.DataFrame,
    responses: pd.DataFrame,
    ask: Ask,
    *,
    topics: int,
    known_topics: Collection[str],
    template: Template | None = None,
) -> pd.DataFrame:
    """Support labels of a new judge for the facts of a released judge."""
    topic_ids = list(dict.fromkeys(responses["topic"]))[:topics]
    rows = list(responses[responses["topic"].isin(topic_ids)].itertuples(index=False))
    facts = dict(list(unify_importance(labels).groupby(["run", "topic"], sort=False)))
    unknown = [topic for topic in topic_ids if topic not in known_topics]
    if unknown:
        raise ValueError(
            f"A response is to topic {unknown[0]!r}, which the released labels do not have; "
            "judge only responses to topics of TREC RAG 2024."
        )
    facts_by_response = [facts.get((row.run, row.topic), labels.iloc[:0]) for row in rows]
    labels_by_response = assign_nuggets(
        [
            (row.question, row.text, own_facts["text"].tolist())
            for row, own_facts in zip(rows, facts_by_response, strict=True)
        ],
        ask,
        template=template,
    )
    parts = [
        own_facts[[*_KEYS, "importance"]].assign(before=own_facts["support"], support=list(support))
        for own_facts, support in zip(facts_by_response, labels_by_response, strict=True)
    ]
    parts += [
        pd.DataFrame([[row.run, row.topic, 0, "", "", ""]], columns=parts[0].columns)
        for row, own_facts in zip(rows, facts_by_response, strict=True)
        if own_facts.empty
    ]
    return pd.concat(parts, ignore_index=True)


def strict_scores(by_judge: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """V_strict of each response by each judge, and the mean of three judges."""
    labels = pd.concat(by_judge.values(), ignore_index=True)
    responses = labels[["judge", "run", "topic"]].drop_duplicates()
    scores = nugget_scores(labels, responses)
    scores = scores.assign(run=scores["run"].map(NAMES))
    return add_mean(scores) if len(by_judge) == 3 else scores
