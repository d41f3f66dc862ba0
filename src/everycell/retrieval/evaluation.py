"""Measures of rankings, topic by topic.

Two ways to the same numbers:

- :func:`evaluate`: a run against qrels, equal to trec_eval to the last bit;
- :func:`judge` and :func:`ranking_measures`: many systems that score the same candidates, all at
  once, from arrays. Interpolation needs this: eleven weights give eleven runs.

Measures
--------
================  ===========================  =====================================================
name              trec_eval                    value (0 to 1)
================  ===========================  =====================================================
MAP, MAP@k        map, map_cut_k               precision at each relevant document (down to rank k),
                                               summed, over the number of relevant documents
nDCG, nDCG@k      ndcg, ndcg_cut_k             relevance / log2(rank + 1), summed, over the same sum
                                               of the best possible ranking
RR, RR@k          recip_rank                   1 / rank of the first relevant document, 0 below k
P@k               P_k                          relevant documents down to rank k, over k
R@k               recall_k                     the same, over the number of relevant documents
================  ===========================  =====================================================

The number of relevant documents and the best ranking are those of the qrels, so a relevant document
that is not a candidate lowers the value. Ranks are those of
:func:`~everycell.trec.runs.trec_order`. Relevance below 0 counts as 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from everycell.retrieval.relevant_ranks import measure_ranks, relevant_ranks
from everycell.trec.qrels import check_qrels
from everycell.trec.runs import check_run

Choice = Literal["zero", "drop", "error"]

_GRAMMAR = re.compile(r"(MAP|nDCG|RR|P|R)(?:@([1-9]\d{0,5}))?")


def parse_measure(measure: str) -> tuple[str, int | None]:
    """Name and cut-off of a measure."""
    match = _GRAMMAR.fullmatch(measure)
    if match is None or (match[1] in ("P", "R") and match[2] is None):
        raise ValueError(
            f"The measure {measure!r} is unknown: give MAP, nDCG or RR, with or without a cut-off "
            "such as @10, or P@k or R@k."
        )
    return match[1], int(match[2]) if match[2] else None


def check_measures(measures: Sequence[str]) -> None:
    """Refuse measures that are not a list, an empty list or an unknown measure."""
    if isinstance(measures, str) or not measures:
        raise ValueError(f"The measures are {measures!r}: give a list such as ['MAP', 'nDCG@10'].")
    for measure in measures:
        parse_measure(measure)


def check_level(relevance_level: int) -> None:
    """Refuse a relevance level that is not a whole number of 1 or more."""
    whole = isinstance(relevance_level, (int, np.integer)) and not isinstance(relevance_level, bool)
    if not whole or relevance_level < 1:
        raise ValueError(f"relevance_level is {relevance_level!r}: give a whole number, 1 or more.")


def topics_of(
    qrels: pd.DataFrame,
    answered: pd.Index,
    *,
    relevance_level: int,
    missing_topics: Choice,
    without_relevant: Choice,
) -> pd.Index:
    """Topics to average over, in the order of the qrels."""
    choices = {"missing_topics": missing_topics, "without_relevant": without_relevant}
    for name, choice in choices.items():
        if choice not in ("zero", "drop", "error"):
            raise ValueError(f"{name} is {choice!r}: give 'zero', 'drop' or 'error'.")
    topics = pd.Index(qrels["query"].unique(), name="query")
    relevant = pd.Index(qrels.loc[qrels["relevance"] >= relevance_level, "query"].unique())
    there = topics.isin(answered)
    if not there.any():
        raise ValueError(
            f"None of the {len(topics)} topics of the qrels is answered: the qrels begin with "
            f"{list(topics[:3])}, the answers with {list(answered[:3])}; give both the same ids."
        )
    for choice, holds, words, name in (
        (missing_topics, there, "is not answered", "missing_topics"),
        (
            without_relevant,
            topics.isin(relevant),
            f"has no document of relevance {relevance_level} or more",
            "without_relevant",
        ),
    ):
        if choice == "error" and not holds.all():
            raise ValueError(
                f"Topic {topics[~holds][0]!r} of the qrels {words} ({(~holds).sum()} of "
                f"{len(topics)} topics): correct the data, or choose {name}='zero' or 'drop'."
            )
    dropped = np.zeros(len(topics), dtype=bool)
    if missing_topics == "drop":
        dropped |= ~there
    if without_relevant == "drop":
        dropped |= ~topics.isin(relevant)
    if dropped.all():
        raise ValueError(
            f"All {len(topics)} topics of the qrels are dropped: choose missing_topics='zero' or "
            "without_relevant='zero'."
        )
    return topics[~dropped]


def evaluate(
    run: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    relevance_level: int = 1,
    missing_topics: Choice = "zero",
    without_relevant: Choice = "zero",
) -> pd.DataFrame:
    """Value of each measure for each topic, as trec_eval (pytrec_eval) gives it.

    To rank given candidates only, pass the run through
    :func:`~everycell.trec.runs.restrict_run` first.

    Examples
    --------
    >>> run = pd.DataFrame({"query": "q", "document": ["a", "b", "c"], "score": [3.0, 2, 2]})
    >>> qrels = pd.DataFrame({"query": "q", "document": ["b", "a"], "relevance": [1, 0]})
    >>> evaluate(run, qrels, ["MAP", "RR@2", "P@1"]).round(3).to_dict("records")
    [{'MAP': 0.333, 'RR@2': 0.0, 'P@1': 0.0}]
    """
    check_measures(measures)
    check_level(relevance_level)
    run, qrels = check_run(run), check_qrels(qrels)
    topics = topics_of(
        qrels,
        pd.Index(run["query"].unique()),
        relevance_level=relevance_level,
        missing_topics=missing_topics,
        without_relevant=without_relevant,
    )
    ranks = relevant_ranks(run, qrels, topics)
    table = {
        measure: measure_ranks(ranks, qrels, topics, *parse_measure(measure), relevance_level)
        for measure in measures
    }
    return pd.DataFrame(table, index=topics)
