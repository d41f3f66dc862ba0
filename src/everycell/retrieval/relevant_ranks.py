"""Ranks of the relevant documents of a run, and trec_eval's measures computed from them.

The measures need only the ranks of the relevant documents, and these are few. A run is therefore
sorted once, as numbers, and no dictionary is built. Sums are taken in trec_eval's order, so that
the values are its own to the last bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from everycell.engine.arrays import FloatArray, IntArray
from everycell.trec.runs import id_order, warn_of_collapse


class RelevantRanks(NamedTuple):
    """Retrieved documents of relevance above 0, by topic and rank.

    `topic`, `rank` (from 1) and `relevance` have the shape (found,).
    """

    topic: IntArray
    rank: IntArray
    relevance: IntArray


def relevant_ranks(run: pd.DataFrame, qrels: pd.DataFrame, topics: pd.Index) -> RelevantRanks:
    """Find the ranks of the documents of relevance above 0 in a run."""
    codes, names = pd.factorize(run["query"])
    topic = topics.get_indexer(names)[codes]
    judged_topic = topics.get_indexer(qrels["query"])
    # Topics that are not considered all have the number -1, and may share a document.
    considered = (qrels["relevance"].to_numpy() > 0) & (judged_topic >= 0)
    judged, judged_topic = qrels[considered], judged_topic[considered]
    document, known = pd.factorize(judged["document"])
    index = pc.index_in(pa.array(run["document"]), value_set=pa.array(known)).fill_null(-1)
    run_document = index.to_numpy(zero_copy_only=False).astype(np.int64)
    candidates = np.flatnonzero((run_document >= 0) & (topic >= 0))
    pairs = pd.Index(judged_topic * np.int64(len(known)) + document)
    match = pairs.get_indexer(topic[candidates] * np.int64(len(known)) + run_document[candidates])
    rows, match = candidates[match >= 0], match[match >= 0]
    rank = _ranks(run, topic, rows)
    order = np.lexsort((rank, topic[rows]))
    relevance = judged["relevance"].to_numpy(dtype=np.int64)[match]
    return RelevantRanks(topic[rows][order], rank[order], relevance[order])


def _ranks(run: pd.DataFrame, topic: IntArray, rows: IntArray) -> IntArray:
    """Rank of some rows within their topics, ties by descending id."""
    # One number per row, ascending from a topic's best score: the topic (-1 means none, and comes
    # first), then the bits of the score, inverted so that they descend.
    score = run["score"].to_numpy().astype(np.float32) + np.float32(0)  # no negative zero
    bits = score.view(np.int32).astype(np.int64)
    descending = np.where(bits >= 0, 0x7FFFFFFF - bits, bits & 0xFFFFFFFF)
    keys = ((topic + 1) << 32) | descending
    ordered = np.sort(keys)
    mine = keys[rows]
    above = np.searchsorted(ordered, mine)
    equal = np.searchsorted(ordered, mine, side="right") - above
    rank = above - np.searchsorted(ordered, (topic[rows] + 1) << 32) + 1
    if (equal > 1).any():
        tied = np.unique(mine[equal > 1])
        of_ties = np.flatnonzero(tied[np.searchsorted(tied, keys).clip(max=len(tied) - 1)] == keys)
        ids = id_order(run["document"].iloc[of_ties])
        order = np.lexsort((ids, keys[of_ties]))
        first = np.searchsorted(keys[of_ties][order], keys[of_ties][order])
        equal = np.diff(keys[of_ties][order]) == 0
        warn_of_collapse(run, of_ties[order][:-1][equal], of_ties[order][1:][equal])
        ahead = np.zeros(len(run), dtype=np.int64)
        ahead[of_ties[order]] = np.arange(len(of_ties)) - first
        rank += ahead[rows]
    return rank


def measure_ranks(
    ranks: RelevantRanks,
    qrels: pd.DataFrame,
    topics: pd.Index,
    name: str,
    cutoff: int | None,
    relevance_level: int,
) -> FloatArray:
    """Value of a measure for each topic, summed in trec_eval's order.

    Examples
    --------
    >>> qrels = pd.DataFrame({"query": "q", "document": ["b", "a"], "relevance": [1, 1]})
    >>> ranks = RelevantRanks(np.array([0]), np.array([2]), np.array([1]))
    >>> measure_ranks(ranks, qrels, pd.Index(["q"]), "AP", None, 1).tolist()
    [0.25]
    """
    number = len(topics)
    judged_topic = topics.get_indexer(qrels["query"])
    judged = qrels["relevance"].to_numpy(dtype=np.int64)
    if name == "nDCG":
        ideal = np.flatnonzero((judged > 0) & (judged_topic >= 0))
        ideal = ideal[np.lexsort((-judged[ideal], judged_topic[ideal]))]
        best = _gain(
            judged_topic[ideal], _positions(judged_topic[ideal]), judged[ideal], number, cutoff
        )
        gain = _gain(ranks.topic, ranks.rank, ranks.relevance, number, cutoff)
        return np.divide(gain, best, out=np.zeros(number), where=best > 0)
    good = ranks.relevance >= relevance_level
    topic, rank = ranks.topic[good], ranks.rank[good]
    so_far = _positions(topic)
    if cutoff is not None:
        within = rank <= cutoff
        topic, rank, so_far = topic[within], rank[within], so_far[within]
    if name == "RR":
        values = np.zeros(number)
        first = so_far == 1
        values[topic[first]] = 1 / rank[first]
        return values
    if name == "P" and cutoff is not None:
        return np.bincount(topic, minlength=number) / cutoff
    relevant = judged_topic[(judged >= relevance_level) & (judged_topic >= 0)]
    counts = np.bincount(relevant, minlength=number)
    # bincount adds in the order of the rows, which is that of the ranks.
    sums = np.bincount(topic, weights=so_far / rank if name == "AP" else None, minlength=number)
    return np.divide(sums, counts, out=np.zeros(number), where=counts > 0)


def _positions(topic: IntArray) -> IntArray:
    """Position, from 1, of each row within its topic; rows of a topic are contiguous."""
    return np.arange(1, len(topic) + 1) - np.searchsorted(topic, topic)


def _gain(
    topic: IntArray, rank: IntArray, relevance: IntArray, number: int, cutoff: int | None
) -> FloatArray:
    """Discounted cumulative gain of each topic."""
    if cutoff is not None:
        topic, rank, relevance = (array[rank <= cutoff] for array in (topic, rank, relevance))
    # numpy's logarithm may differ in the last bit from C's, which trec_eval uses.
    different, which = np.unique(rank, return_inverse=True)
    discount = np.array([math.log2(value + 1) for value in different.tolist()])
    weights = relevance / discount[which] if len(rank) else None
    return np.bincount(topic, weights=weights, minlength=number).astype(float)
