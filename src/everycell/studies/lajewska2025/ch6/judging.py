"""Responses judged by a language model, with the facts of a judge of the thesis."""

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
    known: Collection[str],
    template: Template | None = None,
) -> pd.DataFrame:
    """Labels of support by another judge, for the same facts."""
    topic_ids = list(dict.fromkeys(responses["topic"]))[:topics]
    own_responses = responses[responses["topic"].isin(topic_ids)]
    facts = dict(list(unify_importance(labels).groupby(["run", "topic"], sort=False)))
    unknown = [topic for topic in topic_ids if topic not in known]
    if unknown:
        raise ValueError(
            f"The released labels have no topic {unknown[0]!r}, which has a response; judge "
            "responses to topics of TREC RAG 2024 alone."
        )
    facts_by_response = [
        facts.get((row.run, row.topic), labels.iloc[:0])
        for row in own_responses.itertuples(index=False)
    ]
    labels_by_response = assign_nuggets(
        [
            (row.question, row.text, own["text"].tolist())
            for row, own in zip(
                own_responses.itertuples(index=False), facts_by_response, strict=True
            )
        ],
        ask,
        template=template,
    )
    parts = [
        own[[*_KEYS, "importance"]].assign(before=own["support"], support=list(support))
        for own, support in zip(facts_by_response, labels_by_response, strict=True)
    ]
    parts += [
        pd.DataFrame([[row.run, row.topic, 0, "", "", ""]], columns=parts[0].columns)
        for row, own in zip(own_responses.itertuples(index=False), facts_by_response, strict=True)
        if own.empty
    ]
    return pd.concat(parts, ignore_index=True)


def scores_again(by_judge: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """V_strict of each response by each judge, and where there are three by their mean."""
    labels = pd.concat(by_judge.values(), ignore_index=True)
    responses = labels[["judge", "run", "topic"]].drop_duplicates()
    scores = nugget_scores(labels, responses)
    scores = scores.assign(run=scores["run"].map(NAMES))
    return add_mean(scores) if len(by_judge) == 3 else scores
