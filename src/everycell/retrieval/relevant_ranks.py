"""Ranks of the relevant documents of a run, and trec_eval's measures computed from them.

The measures need only the ranks of the relevant documents, which are few, so a run is sorted once,
as an array of numbers. Sums follow trec_eval's order, so that the values are bit-identical.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from everycell.base.arrays import FloatArray, IntArray
from everycell.trec.runs import id_order, warn_of_collapse


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
