"""Rank-biased overlap (RBO) of two rankings, with ties, and its counterfactual use (CRBO).

Source: Webber, Moffat and Zobel, "A similarity measure for indefinite rankings" (TOIS 28(4), 2010);
ties after Corsi and Urbano, "The treatment of ties in rank-biased overlap" (SIGIR 2024).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.untrusted import in_quotes
from everycell.metrics.ranked_runs import (
    check_same_kind_of_ids,
    checked_ranked_run,
    group_by_query,
    refuse_duplicates,
)

Variant = Literal["truncated", "min", "ext"]
Ties = Literal["a", "w", "b"]
#: A ranking, best item first; tied items are grouped in a set.
Ranking = Sequence[Hashable | AbstractSet[Hashable]]

#: Default persistence of all functions and commands, as in abolghasemi2026.
PERSISTENCE = 0.9


class _Prefixes(NamedTuple):
    """Prefixes of n pairs of rankings at m depths.

    `overlap` (common items), `size` (agreement is overlap / size) and `unseen` (mean presence
    of the items that only the longer ranking has) have shape (n, m). `short` and `long` are the
    numbers of items, shape (n,).
    """

    overlap: FloatArray
    size: npt.NDArray[np.number]
    unseen: FloatArray
    short: IntArray
    long: IntArray


def _check_arguments(p: float, variant: str) -> None:
    if not 0 < p < 1:
        raise ValueError(f"The persistence p is {p}; give a number above 0 and below 1.")
    if variant not in ("truncated", "min", "ext"):
        raise ValueError(f"The variant {variant!r} is unknown; choose 'truncated', 'min' or 'ext'.")


def _rbo(prefixes: _Prefixes, p: float, variant: Variant) -> FloatArray:
    """RBO of each pair of rankings."""
    rows = np.arange(len(prefixes.overlap))
    depth = np.arange(1, prefixes.overlap.shape[1] + 1)
    is_within_long = depth <= prefixes.long[:, None]
    overlap_long = prefixes.overlap[rows, prefixes.long - 1]
    agreement = np.where(is_within_long, prefixes.overlap / prefixes.size, 0)
    weight = (1 - p) / p * p**depth
    if variant == "truncated":
        return agreement @ weight
    if variant == "min":
        tail_weight = -np.log1p(-p) - np.where(is_within_long, p**depth / depth, 0).sum(axis=1)
        return agreement @ weight + (1 - p) / p * overlap_long * tail_weight
    agreement_short = agreement[rows, prefixes.short - 1]
    missing_items = np.maximum(depth - prefixes.short[:, None], 0)
    added_agreement = agreement_short[:, None] * missing_items * prefixes.unseen / prefixes.size
    final_overlap = overlap_long + (prefixes.long - prefixes.short) * agreement_short
    return (
        agreement + np.where(is_within_long, added_agreement, 0)
    ) @ weight + p**prefixes.long * (final_overlap / prefixes.long)


def _tie_ranges(ranking: Ranking, name: str) -> dict[Hashable, tuple[int, int]]:
    """Map each item to the first and last rank (from 0) of its group of ties."""
    # A dictionary lists its keys in insertion order, but its values may be meant as scores.
    if isinstance(ranking, (AbstractSet, Mapping)):
        raise ValueError(
            f"The {name} ranking is a {type(ranking).__name__}, which has no ranks; give "
            "a list that starts with the best item, with tied items in a set."
        )
    positions: dict[Hashable, tuple[int, int]] = {}
    for entry in ranking:
        tied_items = entry if isinstance(entry, AbstractSet) else (entry,)
        if not isinstance(entry, (Hashable, AbstractSet)):
            raise ValueError(
                f"The {name} ranking has the item {in_quotes(entry)} of type "
                f"{type(entry).__name__}; give strings or numbers, and tied items in a set."
            )
        start = len(positions)
        for item in tied_items:
            if item in positions:
                raise ValueError(
                    f"The {name} ranking has the item {item!r} twice; remove one of them."
                )
            if item is None or item is pd.NA or item != item:
                raise ValueError(
                    f"The {name} ranking has the item {item!r}, which is missing; remove it."
                )
            positions[item] = (start, start + len(tied_items) - 1)
    if not positions:
        raise ValueError(f"The {name} ranking is empty; give one item or more.")
    return positions


def _contributions(
    positions: dict[Hashable, tuple[int, int]], items: list, depths: int, ties: Ties
):
    """Share of each item (row) that a ranking includes at each depth (column)."""
    share = np.zeros((len(items), depths))
    for row, item in enumerate(items):
        if item in positions:
            first, last = positions[item]
            # A tied item is equally likely at each of the tied ranks; "w" counts it in full from
            # the first of them on.
            size = 1 if ties == "w" else last - first + 1
            share[row, first:] = np.minimum(np.arange(1, depths - first + 1) / size, 1)
    return share


def rbo(
    first: Ranking,
    second: Ranking,
    p: float = PERSISTENCE,
    *,
    variant: Variant = "ext",
    ties: Ties = "a",
) -> float:
    r"""Rank-biased overlap (RBO), a top-weighted similarity of two rankings.

    The agreement A_d at depth d is the share of the first d items that the rankings have in common.
    RBO is its mean over all depths, weighted by p^(d - 1):

    .. math:: RBO = (1 - p) \sum_{d \geq 1} p^{d-1} A_d

    Parameters
    ----------
    first, second : sequence of items
        Best item first, with one item or more; the lengths may differ. Tied items are grouped in a
        set. To compare at a fixed depth, truncate the rankings.
    p : float
        Persistence, in (0, 1): the probability that a reader continues to the next rank. With the
        default of 0.9, the first ten ranks have 86 % of the weight; with 0.8, the value of
        repro_eval, 97 %.
    variant : {"ext", "min", "truncated"}
        Treatment of depths beyond the last item. "ext" extrapolates the agreement; "min" assumes no
        further common items, a lower bound on the RBO of longer rankings; "truncated" ends the sum,
        so that identical rankings of n items have an RBO of 1 - p^n.
    ties : {"a", "b", "w"}
        Meaning of a tie, with the names of Corsi and Urbano; without ties, all three agree.

        - "a": the order is unknown. The result is the mean over all orders of the tied items, so
          the RBO of a ranking with ties and itself is below 1.
        - "b": as "a", normalised so that the RBO of a ranking with ties and itself is 1.
        - "w": the items are equally good. All of them count from their first rank on.

    Returns
    -------
    float
        In [0, 1]: "truncated" <= "min" <= "ext" for the same rankings. "ext" is 1 for identical
        rankings (with ties, only under "b" and "w"). All variants are 0 for rankings without a
        common item. Symmetric.

    Raises
    ------
    ValueError
        A ranking that is empty, a set or a dictionary; an item that is a list, None or NaN; a
        duplicate item; strings in one ranking and only others in the other; p outside (0, 1); an
        unknown variant or treatment of ties.

    Notes
    -----
    Source: Webber et al. (2010), Eqs. 4, 11, 28 and 32; ties: Corsi and Urbano (2024). With the
    shorter ranking S of s items, the longer one L of l items, and :math:`X_d = |S_{:d} \cap
    L_{:d}|` items in common,

    .. math:: RBO_{ext} = \frac{1 - p}{p} \left( \sum_{d=1}^{l} \frac{X_d}{d} p^d
              + \sum_{d=s+1}^{l} \frac{X_s (d - s)}{s\, d} p^d \right)
              + \left( \frac{X_l - X_s}{l} + \frac{X_s}{s} \right) p^l

    With ties, :math:`X_d` is the sum over items of the product of their shares c in both rankings:
    under "a" and "b", each rank of n tied items adds 1 / n of each of them. The agreement is
    :math:`X_d / d` ("a"), :math:`X_d / \sqrt{\sum c_S^2 \sum c_L^2}` ("b"), or :math:`2 X_d /
    (|S_{:d}| + |L_{:d}|)` ("w"). Memory grows with items times depths; for many queries without
    ties, use `crbo`.

    Examples
    --------
    >>> round(rbo(["a", "b", "c"], ["a", "c", "d"]), 4)
    0.685
    >>> [round(rbo("abc", "bad", 0.5, variant=v), 4) for v in ("truncated", "min", "ext")]
    [0.3333, 0.3863, 0.4167]
    >>> round(rbo(["a", {"b", "c"}], ["a", "b", "c"]), 4)
    0.9775
    """
    _check_arguments(p, variant)
    if ties not in ("a", "w", "b"):
        raise ValueError(f"ties is {ties!r}; choose 'a', 'w' or 'b'.")
    positions = [_tie_ranges(first, "first"), _tie_ranges(second, "second")]
    has_text = [{isinstance(item, str) for item in ranking} for ranking in positions]
    if {True} in has_text and {False} in has_text:
        raise ValueError(
            "The items are strings in one ranking and not in the other, so they have none in "
            "common; use one type."
        )
    short, long = sorted(positions, key=len)
    s, depths = len(short), len(long)
    items = list(short | long)
    in_short = _contributions(short, items, depths, ties)
    in_long = _contributions(long, items, depths, ties)
    only_long = in_long[[item not in short for item in items]]
    depth = np.arange(1, depths + 1)
    if ties == "a":
        size = depth.astype(float)
    else:
        # Beyond its end, the shorter ranking is assumed to have as many items as the depth.
        power = 1 if ties == "w" else 2
        short_size = np.where(depth <= s, (in_short**power).sum(axis=0), depth)
        long_size = (in_long**power).sum(axis=0)
        size = (short_size + long_size) / 2 if ties == "w" else np.sqrt(short_size * long_size)
    # Items that only the longer ranking has, down to each depth; tied items may be partly included.
    unseen_items = np.maximum((only_long > 0).sum(axis=0), 1)
    prefixes = _Prefixes(
        overlap=(in_short * in_long).sum(axis=0)[None],
        size=size[None],
        unseen=(only_long.sum(axis=0) / unseen_items)[None],
        short=np.array([s]),
        long=np.array([depths]),
    )
    return float(_rbo(prefixes, p, variant)[0])


def crbo(
    original: pd.DataFrame,
    counterfactual: pd.DataFrame,
    p: float = PERSISTENCE,
    *,
    depth: int = 10,
    variant: Variant = "ext",
) -> pd.Series:
    """Counterfactually estimated RBO: overlap between rankings before and after a group swap.

    Parameters
    ----------
    original, counterfactual : pandas.DataFrame
        Runs on the collection and on its counterfactual, in which documents keep their ids:
        columns ``query``, ``document`` and ``rank`` (integers from 1, without gaps or repeats).
        Break ties before the call, for example as trec_eval does.
    p : float
        Persistence, in (0, 1), as for `rbo`.
    depth : int
        Number of documents to compare, 1 or more; shorter lists are compared in full.
    variant : {"ext", "min", "truncated"}
        As for `rbo`. The thesis does not state its variant. With p = 0.9 and ten documents,
        "truncated" is at most 0.651 and "min" at most 0.856, so the values of the thesis (0.95 to
        0.98) must be "ext" if they compare ten documents.

    Returns
    -------
    pandas.Series, shape (Q,)
        RBO of each query, in the order of `original`; index ``query``. With "ext", 1 if the swap
        does not change the ranking: no bias. The thesis reports the mean.

    Raises
    ------
    ValueError
        A missing or duplicate column, ranks that are not integers or have gaps or repeats, a
        document listed twice for a query, different queries in the two runs, ids that are strings
        in one run and numbers in the other, a depth below 1, or as for `rbo`.

    Notes
    -----
    Source: abolghasemi2026, section 4.5 (iii).

    Examples
    --------
    >>> run = pd.DataFrame({"query": "q", "document": ["a", "b"], "rank": [1, 2]})
    >>> swapped = run.assign(rank=[2, 1])
    >>> crbo(run, run).tolist(), crbo(run, swapped).round(2).tolist()
    ([1.0], [0.9])
    """
    _check_arguments(p, variant)
    if depth < 1:
        raise ValueError(f"The depth is {depth}; give 1 document or more.")
    runs = [
        checked_ranked_run(original, "original"),
        checked_ranked_run(counterfactual, "counterfactual"),
    ]
    check_same_kind_of_ids(*runs)
    grouped = [
        group_by_query(run, name)
        for run, name in zip(runs, ("original", "counterfactual"), strict=True)
    ]
    queries = grouped[0].queries
    for run, counterpart, name in zip(
        grouped, grouped[::-1], ("original", "counterfactual"), strict=True
    ):
        unmatched_queries = run.queries.difference(counterpart.queries, sort=False)
        if len(unmatched_queries):
            raise ValueError(
                f"Query {unmatched_queries[0]!r} is in the {name} run only; use the same queries "
                "in both runs."
            )
    rows = grouped[1].queries.get_indexer(queries)
    ids = pd.concat([run.documents for run in grouped], ignore_index=True)
    if ids.dtype == object:
        # Arrow does not accept objects of several types.
        ids = pd.Series(pd.factorize(ids)[0])
    documents = pa.table({"document": ids})["document"].combine_chunks()
    second_start = len(runs[0])
    lengths = np.diff(grouped[0].starts), np.diff(grouped[1].starts)[rows]
    overlap = np.zeros((len(queries), depth))
    # The hash table of one query stays in the processor's cache; one of all documents does not.
    for query, row in enumerate(rows):
        ranks = [
            run.ranks[run.starts[number] : run.starts[number + 1]]
            for run, number in zip(grouped, (query, row), strict=True)
        ]
        lists = (
            documents.slice(grouped[0].starts[query], len(ranks[0])),
            documents.slice(second_start + grouped[1].starts[row], len(ranks[1])),
        )
        codes = pa.concat_arrays(lists).dictionary_encode().indices.to_numpy()
        first, second = codes[: len(ranks[0])], codes[len(ranks[0]) :]
        second_ranks = np.full(codes.max() + 1, depth)
        second_ranks[second] = ranks[1]
        # Codes are given in the order of first occurrence, so the last one shows any duplicate.
        if first[-1] != len(first) - 1 or (second_ranks[second] != ranks[1]).any():
            refuse_duplicates(runs)
        # A document is in the overlap from the larger of its two ranks on.
        overlap_ranks = np.maximum(second_ranks[first], ranks[0])
        overlap[query] = np.bincount(overlap_ranks[overlap_ranks < depth], minlength=depth)
    ranks = np.arange(1, depth + 1)
    prefixes = _Prefixes(
        overlap=np.cumsum(overlap, axis=1),
        size=np.broadcast_to(ranks, overlap.shape),
        unseen=np.ones_like(overlap),
        short=np.minimum(np.minimum(*lengths), depth),
        long=np.minimum(np.maximum(*lengths), depth),
    )
    index = pd.Index(queries, name="query")
    return pd.Series(_rbo(prefixes, p, variant), index=index, name=f"RBO {variant}")
