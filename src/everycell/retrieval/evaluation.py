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
0. The measures need only the ranks of the relevant documents, which are few, so a run is sorted
once, as an array of numbers. Sums follow trec_eval's order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError
from everycell.trec.runs import check_qrels, check_run, id_order, warn_of_collapse

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
        raise DataError(
            column="measure",
            value=str(measure),
            expected="AP, nDCG or RR, with or without a cut-off such as @10, or P@k or R@k",
        )
    level = parsed.params.get("rel", relevance_level)
    if level != relevance_level:
        raise DataError(
            column="measure",
            value=str(measure),
            fault=f"which counts documents as relevant from level {level}",
            expected=f"relevance_level, which is {relevance_level}",
            fix="use the same level for both",
        )
    return parsed.NAME, cutoff


def parse_measures(
    measures: Sequence[str], relevance_level: int = 1
) -> dict[str, tuple[str, int | None]]:
    """Parse measures: notation -> name and cut-off."""
    if isinstance(measures, str) or not measures:
        raise DataError(
            column="measures", value=measures, expected="a list such as ['AP', 'nDCG@10']"
        )
    return {measure: parse_measure(measure, relevance_level) for measure in measures}


def check_level(relevance_level: int) -> None:
    """Raise an error unless a relevance level is a whole number of 1 or more."""
    is_whole = isinstance(relevance_level, (int, np.integer)) and not isinstance(
        relevance_level, bool
    )
    if not is_whole or relevance_level < 1:
        raise DataError(
            column="relevance_level", value=relevance_level, expected="a whole number, 1 or more"
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
    topics = pd.Index(qrels["query"].unique(), name="query")
    relevant = pd.Index(qrels.loc[qrels["relevance"] >= relevance_level, "query"].unique())
    is_ranked = topics.isin(ranked_topics)
    if not is_ranked.any():
        raise DataError(
            fault=f"None of the {len(topics)} topics in the qrels has ranked documents: the qrels "
            f"begin with {list(topics[:3])}, the rankings with {list(ranked_topics[:3])}",
            fix="use the same topic ids in both",
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
            raise DataError(
                row=f"topic {topics[~is_valid][0]!r} of the qrels",
                fault=f"{problem} ({(~is_valid).sum()} of {len(topics)} topics)",
                fix=f"correct the data, or set {name}='zero' or 'drop'",
            )
    dropped = np.zeros(len(topics), dtype=bool)
    if missing_topics == "drop":
        dropped |= ~is_ranked
    if without_relevant == "drop":
        dropped |= ~topics.isin(relevant)
    if dropped.all():
        raise DataError(
            fault=f"All {len(topics)} topics of the qrels are dropped",
            fix="set missing_topics='zero' or without_relevant='zero'",
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


class RelevantRanks(NamedTuple):
    """Retrieved documents of relevance above 0, by topic and rank.

    `topic`, `rank` (from 1) and `relevance` have one value per document.
    """

    topic: IntArray
    rank: IntArray
    relevance: IntArray


def relevant_ranks(run: pd.DataFrame, qrels: pd.DataFrame, topics: pd.Index) -> RelevantRanks:
    """Find the ranks of documents with relevance above 0 in a run."""
    codes, names = pd.factorize(run["query"])
    topic = topics.get_indexer(names)[codes]
    judged_topic = topics.get_indexer(qrels["query"])
    # Topics that are not considered all have the number -1, so their pairs are not unique.
    is_considered = (qrels["relevance"].to_numpy() > 0) & (judged_topic >= 0)
    judged, judged_topic = qrels[is_considered], judged_topic[is_considered]
    document, known = pd.factorize(judged["document"])
    index = pc.index_in(pa.array(run["document"]), value_set=pa.array(known)).fill_null(-1)
    run_document = index.to_numpy(zero_copy_only=False).astype(np.int64)
    candidates = np.flatnonzero((run_document >= 0) & (topic >= 0))
    pairs = pd.Index(judged_topic * np.int64(len(known)) + document)
    match = pairs.get_indexer(topic[candidates] * np.int64(len(known)) + run_document[candidates])
    rows, match = candidates[match >= 0], match[match >= 0]
    rank = _rank_rows(run, topic, rows)
    order = np.lexsort((rank, topic[rows]))
    relevance = judged["relevance"].to_numpy(dtype=np.int64)[match]
    return RelevantRanks(topic[rows][order], rank[order], relevance[order])


def _rank_rows(run: pd.DataFrame, topic: IntArray, rows: IntArray) -> IntArray:
    """Ranks of some rows within their topics; ties are broken by descending id."""
    # The sort key of a row is its topic (-1, if not considered, comes first), followed by the bits
    # of its score, inverted so that the highest score comes first.
    score = run["score"].to_numpy().astype(np.float32) + np.float32(0)  # no negative zero
    bits = score.view(np.int32).astype(np.int64)
    descending = np.where(bits >= 0, 0x7FFFFFFF - bits, bits & 0xFFFFFFFF)
    keys = ((topic + 1) << 32) | descending
    ordered = np.sort(keys)
    row_keys = keys[rows]
    position = np.searchsorted(ordered, row_keys)
    n_equal = np.searchsorted(ordered, row_keys, side="right") - position
    rank = position - np.searchsorted(ordered, (topic[rows] + 1) << 32) + 1
    if (n_equal > 1).any():
        tied_keys = np.unique(row_keys[n_equal > 1])
        tied_rows = np.flatnonzero(
            tied_keys[np.searchsorted(tied_keys, keys).clip(max=len(tied_keys) - 1)] == keys
        )
        order = np.lexsort((id_order(run["document"].iloc[tied_rows]), keys[tied_rows]))
        tied_rows = tied_rows[order]
        first = np.searchsorted(keys[tied_rows], keys[tied_rows])
        is_equal = np.diff(keys[tied_rows]) == 0
        warn_of_collapse(run, tied_rows[:-1][is_equal], tied_rows[1:][is_equal])
        n_ahead = np.zeros(len(run), dtype=np.int64)
        n_ahead[tied_rows] = np.arange(len(tied_rows)) - first
        rank += n_ahead[rows]
    return rank


def measure_ranks(
    ranks: RelevantRanks,
    qrels: pd.DataFrame,
    topics: pd.Index,
    name: str,
    cutoff: int | None,
    relevance_level: int,
) -> FloatArray:
    """Values of a measure per topic, summed in trec_eval's order."""
    n_topics = len(topics)
    judged_topic = topics.get_indexer(qrels["query"])
    judged = qrels["relevance"].to_numpy(dtype=np.int64)
    if name == "nDCG":
        ideal = np.flatnonzero((judged > 0) & (judged_topic >= 0))
        ideal = ideal[np.lexsort((-judged[ideal], judged_topic[ideal]))]
        best = _discounted_gain(
            judged_topic[ideal], _positions(judged_topic[ideal]), judged[ideal], n_topics, cutoff
        )
        gain = _discounted_gain(ranks.topic, ranks.rank, ranks.relevance, n_topics, cutoff)
        return np.divide(gain, best, out=np.zeros(n_topics), where=best > 0)
    is_relevant = ranks.relevance >= relevance_level
    topic, rank = ranks.topic[is_relevant], ranks.rank[is_relevant]
    n_relevant = _positions(topic)
    if cutoff is not None:
        is_ranked = rank <= cutoff
        topic, rank, n_relevant = topic[is_ranked], rank[is_ranked], n_relevant[is_ranked]
    if name == "RR":
        values = np.zeros(n_topics)
        is_first = n_relevant == 1
        values[topic[is_first]] = 1 / rank[is_first]
        return values
    if name == "P" and cutoff is not None:
        return np.bincount(topic, minlength=n_topics) / cutoff
    relevant = judged_topic[(judged >= relevance_level) & (judged_topic >= 0)]
    counts = np.bincount(relevant, minlength=n_topics)
    # bincount adds in the order of the rows, which are sorted by rank.
    weights = n_relevant / rank if name == "AP" else None
    sums = np.bincount(topic, weights=weights, minlength=n_topics)
    return np.divide(sums, counts, out=np.zeros(n_topics), where=counts > 0)


def _positions(topic: IntArray) -> IntArray:
    """Position, from 1, of each row within its topic; rows of a topic are contiguous."""
    return np.arange(1, len(topic) + 1) - np.searchsorted(topic, topic)


def _discounted_gain(
    topic: IntArray, rank: IntArray, relevance: IntArray, n_topics: int, cutoff: int | None
) -> FloatArray:
    """Discounted cumulative gain of each topic."""
    if cutoff is not None:
        topic, rank, relevance = (array[rank <= cutoff] for array in (topic, rank, relevance))
    # numpy's logarithm may differ in the last bit from C's, which trec_eval uses.
    unique_ranks, index = np.unique(rank, return_inverse=True)
    discount = np.array([math.log2(value + 1) for value in unique_ranks.tolist()])
    weights = relevance / discount[index] if len(rank) else None
    return np.bincount(topic, weights=weights, minlength=n_topics).astype(float)
