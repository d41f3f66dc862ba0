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
AP, AP@k          map, map_cut_k               precision at each relevant document (down to rank k),
                                               summed, over the number of relevant documents
nDCG, nDCG@k      ndcg, ndcg_cut_k             relevance / log2(rank + 1), summed, over the same sum
                                               of the best possible ranking
RR, RR@k          recip_rank                   1 / rank of the first relevant document, 0 below k
P@k               P_k                          relevant documents down to rank k, over k
R@k               recall_k                     the same, over the number of relevant documents
================  ===========================  =====================================================

Names are those of `ir_measures`, with its aliases, such as MAP for AP. The number of relevant
documents and the best ranking are those of the qrels, so a relevant document
that is not a candidate lowers the value. Ranks are those of
:func:`~everycell.trec.runs.trec_order`. Relevance below 0 counts as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from everycell.retrieval.relevant_ranks import measure_ranks, relevant_ranks
from everycell.trec.qrels import check_qrels
from everycell.trec.runs import check_run

if TYPE_CHECKING:
    from ir_measures import Measure

Choice = Literal["zero", "drop", "error"]

#: Measures that are computed on arrays, by their names in `ir_measures`.
_NAMES = ("AP", "nDCG", "RR", "P", "R")


def parse_measure(measure: str | Measure, relevance_level: int = 1) -> tuple[str, int | None]:
    """Name and cut-off of a measure, given in the notation of `ir_measures`."""
    import ir_measures

    try:
        parsed = ir_measures.parse_measure(measure)  # pyrefly: ignore[bad-argument-type]  it takes both
        parsed.validate_params()
    except (ValueError, NameError, TypeError, AssertionError):
        parsed = None
    cutoff = parsed.params.get("cutoff") if parsed else None
    if (
        parsed is None
        or parsed.NAME not in _NAMES
        or not parsed.params.keys() <= {"cutoff", "rel"}
        or not (cutoff is None or (cutoff is not True and 1 <= cutoff <= 999_999))
    ):
        raise ValueError(
            f"The measure {str(measure)!r} is not computed on arrays: give AP, nDCG or RR, with or "
            "without a cut-off such as @10, or P@k or R@k."
        )
    level = parsed.params.get("rel", relevance_level)
    if level != relevance_level:
        raise ValueError(
            f"The measure {str(measure)!r} counts relevance from {level} on, and the lists from "
            f"{relevance_level} on; give the same level to all."
        )
    return parsed.NAME, cutoff


def parse_measures(
    measures: Sequence[str], relevance_level: int = 1
) -> dict[str, tuple[str, int | None]]:
    """Measures as they are written -> name and cut-off."""
    if isinstance(measures, str) or not measures:
        raise ValueError(f"The measures are {measures!r}: give a list such as ['AP', 'nDCG@10'].")
    return {measure: parse_measure(measure, relevance_level) for measure in measures}


def check_level(relevance_level: int) -> None:
    """Refuse a relevance level that is not a whole number of 1 or more."""
    is_whole = isinstance(relevance_level, (int, np.integer)) and not isinstance(
        relevance_level, bool
    )
    if not is_whole or relevance_level < 1:
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
    is_answered = topics.isin(answered)
    if not is_answered.any():
        raise ValueError(
            f"None of the {len(topics)} topics of the qrels is answered: the qrels begin with "
            f"{list(topics[:3])}, the answers with {list(answered[:3])}; give both the same ids."
        )
    for choice, holds, words, name in (
        (missing_topics, is_answered, "is not answered", "missing_topics"),
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
        dropped |= ~is_answered
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
    """
    check_level(relevance_level)
    parsed = parse_measures(measures, relevance_level)
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
        measure: measure_ranks(ranks, qrels, topics, *name, relevance_level)
        for measure, name in parsed.items()
    }
    return pd.DataFrame(table, index=topics)
