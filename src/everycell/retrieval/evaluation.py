"""Effectiveness measures of rankings, per topic.

There are two ways to compute the same values:

- :func:`evaluate` compares a run with qrels; the values are bit-identical to trec_eval's.
- `everycell.retrieval.judged_lists` evaluates at once many systems that score the same candidates.
  Interpolation needs it, since eleven weights give eleven runs.

Measures
--------
================  ===========================  =====================================================
name              trec_eval                    value (0 to 1)
================  ===========================  =====================================================
AP, AP@k          map, map_cut_k               sum of precision at each relevant document (up to
                                               rank k) / number of relevant documents
nDCG, nDCG@k      ndcg, ndcg_cut_k             sum of relevance / log2(rank + 1), divided by the
                                               same sum of the ideal ranking
RR, RR@k          recip_rank                   1 / rank of the first relevant document, 0 beyond k
P@k               P_k                          (relevant documents up to rank k) / k
R@k               recall_k                     (relevant documents up to rank k) / number of
                                               relevant documents
================  ===========================  =====================================================

Names and aliases, such as MAP for AP, are those of `ir_measures`. The number of relevant documents
and the ideal ranking come from the qrels, so a relevant document that is not retrieved lowers AP,
nDCG and R. Ranks are those of :func:`~everycell.trec.runs.trec_order`. Relevance below 0 counts as
0.
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
    """Parse a measure in the notation of `ir_measures` into its name and cut-off."""
    import ir_measures

    try:
        parsed = ir_measures.parse_measure(measure)  # pyrefly: ignore[bad-argument-type]  accepts both
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
            f"The measure {str(measure)!r} is not supported here: give AP, nDCG or RR, with or "
            "without a cut-off such as @10, or P@k or R@k."
        )
    level = parsed.params.get("rel", relevance_level)
    if level != relevance_level:
        raise ValueError(
            f"The measure {str(measure)!r} counts documents as relevant from level {level}, but "
            f"relevance_level is {relevance_level}; use the same level for both."
        )
    return parsed.NAME, cutoff


def parse_measures(
    measures: Sequence[str], relevance_level: int = 1
) -> dict[str, tuple[str, int | None]]:
    """Parse measures: notation -> name and cut-off."""
    if isinstance(measures, str) or not measures:
        raise ValueError(f"The measures are {measures!r}: give a list such as ['AP', 'nDCG@10'].")
    return {measure: parse_measure(measure, relevance_level) for measure in measures}


def check_level(relevance_level: int) -> None:
    """Raise an error unless a relevance level is a whole number of 1 or more."""
    is_whole = isinstance(relevance_level, (int, np.integer)) and not isinstance(
        relevance_level, bool
    )
    if not is_whole or relevance_level < 1:
        raise ValueError(
            f"relevance_level is {relevance_level!r}: it must be a whole number, 1 or more."
        )


def select_topics(
    qrels: pd.DataFrame,
    ranked_topics: pd.Index,
    *,
    relevance_level: int,
    missing_topics: Choice,
    without_relevant: Choice,
) -> pd.Index:
    """Select the topics to average over, in the order of the qrels."""
    choices = {"missing_topics": missing_topics, "without_relevant": without_relevant}
    for name, choice in choices.items():
        if choice not in ("zero", "drop", "error"):
            raise ValueError(f"{name} is {choice!r}: it must be 'zero', 'drop' or 'error'.")
    topics = pd.Index(qrels["query"].unique(), name="query")
    relevant = pd.Index(qrels.loc[qrels["relevance"] >= relevance_level, "query"].unique())
    is_ranked = topics.isin(ranked_topics)
    if not is_ranked.any():
        raise ValueError(
            f"None of the {len(topics)} topics in the qrels has ranked documents: the qrels begin "
            f"with {list(topics[:3])}, the rankings with {list(ranked_topics[:3])}; use the same "
            "topic ids in both."
        )
    for choice, is_valid, problem, name in (
        (missing_topics, is_ranked, "has no ranked documents", "missing_topics"),
        (
            without_relevant,
            topics.isin(relevant),
            f"has no document of relevance {relevance_level} or more",
            "without_relevant",
        ),
    ):
        if choice == "error" and not is_valid.all():
            raise ValueError(
                f"Topic {topics[~is_valid][0]!r} of the qrels {problem} ({(~is_valid).sum()} of "
                f"{len(topics)} topics): correct the data, or set {name}='zero' or 'drop'."
            )
    dropped = np.zeros(len(topics), dtype=bool)
    if missing_topics == "drop":
        dropped |= ~is_ranked
    if without_relevant == "drop":
        dropped |= ~topics.isin(relevant)
    if dropped.all():
        raise ValueError(
            f"All {len(topics)} topics of the qrels are dropped: set missing_topics='zero' or "
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
    """Evaluate a run per topic; the values equal those of trec_eval (pytrec_eval).

    To rank only given candidates, apply :func:`~everycell.trec.runs.restrict_run` first.
    """
    check_level(relevance_level)
    parsed = parse_measures(measures, relevance_level)
    run, qrels = check_run(run), check_qrels(qrels)
    topics = select_topics(
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
