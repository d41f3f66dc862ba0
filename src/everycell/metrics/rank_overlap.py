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

from everycell.engine.arrays import FloatArray, IntArray
from everycell.engine.untrusted import in_quotes
from everycell.metrics.ranked_runs import (
    check_same_kind_of_ids,
    checked_ranked_run,
    group_by_query,
    refuse_doubles,
)

Variant = Literal["truncated", "min", "ext"]
Ties = Literal["a", "w", "b"]
#: A ranking from the best item; tied items are grouped in a set.
Ranking = Sequence[Hashable | AbstractSet[Hashable]]

#: Default persistence of all functions and commands; that of abolghasemi2026.
PERSISTENCE = 0.9


class _Seen(NamedTuple):
    """What is seen of pairs of rankings (n of them, m depths).

    `overlap`, `size` and `unseen` have the shape (n, m): items in common, what they are divided
    by to give the agreement, and the mean presence of the items that only the longer ranking has.
    `short` and `long` are the numbers of items, shape (n,).
    """

    overlap: FloatArray
    size: npt.NDArray[np.number]
    unseen: FloatArray
    short: IntArray
    long: IntArray


def _check(p: float, variant: str) -> None:
    if not 0 < p < 1:
        raise ValueError(f"The persistence p is {p}; give a number above 0 and below 1.")
    if variant not in ("truncated", "min", "ext"):
        raise ValueError(f"The variant {variant!r} is unknown; choose 'truncated', 'min' or 'ext'.")


def _rbo(prefixes: _Seen, p: float, variant: Variant) -> FloatArray:
    """RBO of each pair of rankings."""
    rows = np.arange(len(prefixes.overlap))
    depth = np.arange(1, prefixes.overlap.shape[1] + 1)
    within = depth <= prefixes.long[:, None]
    overlap_long = prefixes.overlap[rows, prefixes.long - 1]
    agreement = np.where(within, prefixes.overlap / prefixes.size, 0)
    weight = (1 - p) / p * p**depth
    if variant == "truncated":
        return agreement @ weight
    if variant == "min":
        beyond = -np.log1p(-p) - np.where(within, p**depth / depth, 0).sum(axis=1)
        return agreement @ weight + (1 - p) / p * overlap_long * beyond
    agreement_short = agreement[rows, prefixes.short - 1]
    missing = np.maximum(depth - prefixes.short[:, None], 0)
    assumed = agreement_short[:, None] * missing * prefixes.unseen / prefixes.size
    everywhere = overlap_long + (prefixes.long - prefixes.short) * agreement_short
    return (agreement + np.where(within, assumed, 0)) @ weight + p**prefixes.long * (
        everywhere / prefixes.long
    )


def _flatten(ranking: Ranking, name: str) -> dict[Hashable, tuple[int, int]]:
    """Item -> first and last rank (from 0) of the items that it ties with."""
    # A dictionary has an order, that of its keys; its values are easily mistaken for scores.
    if isinstance(ranking, (AbstractSet, Mapping)):
        raise ValueError(
            f"The {name} ranking is a {type(ranking).__name__}, which has no ranks; give "
            "a list from the best item on, with items that tie in a set inside it."
        )
    positions: dict[Hashable, tuple[int, int]] = {}
    for entry in ranking:
        tied = entry if isinstance(entry, AbstractSet) else (entry,)
        if not isinstance(entry, (Hashable, AbstractSet)):
            raise ValueError(
                f"The {name} ranking has the item {in_quotes(entry)} of type "
                f"{type(entry).__name__}; an item is a text or a number, and items that tie stand "
                "in a set, so give that."
            )
        start = len(positions)
        for item in tied:
            if item in positions:
                raise ValueError(
                    f"The {name} ranking has the item {item!r} twice; an item has one rank, so "
                    "remove one."
                )
            positions[item] = (start, start + len(tied) - 1)
    if not positions:
        raise ValueError(f"The {name} ranking is empty; give one item or more.")
    return positions


def _contributions(
    positions: dict[Hashable, tuple[int, int]], items: list, depths: int, ties: Ties
):
    """How much of each item (row) a ranking has at each depth (column)."""
    share = np.zeros((len(items), depths))
    for row, item in enumerate(items):
        if item in positions:
            first, last = positions[item]
            # A tied item is at each of the tied ranks with the same probability; "w" counts it in
            # full from the first of them on.
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
    r"""Rank-biased overlap (RBO): how similar two rankings are, with more weight at the top.

    The agreement A_d at depth d is the share of the first d items that the rankings have in common.
    RBO is its mean over all depths, weighted by p^(d - 1):

    .. math:: RBO = (1 - p) \sum_{d \geq 1} p^{d-1} A_d

    Parameters
    ----------
    first, second : sequence of items
        From the best; of any lengths of 1 or more. Tied items are grouped in a set. To compare at a
        depth, cut the rankings there.
    p : float
        Persistence, in (0, 1): the probability that a reader goes on to the next rank. With the
        default of 0.9 the first ten ranks have 86 % of the weight; with 0.8, that of repro_eval,
        97 %.
    variant : {"ext", "min", "truncated"}
        What follows the last item. "ext" extrapolates the agreement seen so far; "min" adds no item
        in common, which is the lowest RBO that longer rankings could have; "truncated" ends the
        sum, so that identical rankings of n items have 1 - p^n.
    ties : {"a", "b", "w"}
        What a tie means, under the names of Corsi and Urbano (without ties all three agree):

        - "a": the order is unknown. The result is the mean over all orders of the tied items, so
          that a ranking with ties has less than 1 with itself.
        - "b": as "a", normalised so that a ranking with ties has 1 with itself.
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
        An empty ranking, one that is a set or a dictionary, an item that is a list, an item twice
        in a ranking, p outside (0, 1), an unknown choice.

    Notes
    -----
    Source: Webber et al. (2010), Eqs. 4, 11, 28 and 32; ties: Corsi and Urbano (2024). With the
    shorter ranking S of s items, the longer one L of l items, and :math:`X_d = |S_{:d} \cap
    L_{:d}|` items in common,

    .. math:: RBO_{ext} = \frac{1 - p}{p} \left( \sum_{d=1}^{l} \frac{X_d}{d} p^d
              + \sum_{d=s+1}^{l} \frac{X_s (d - s)}{s\, d} p^d \right)
              + \left( \frac{X_l - X_s}{l} + \frac{X_s}{s} \right) p^l

    With ties, :math:`X_d` sums over items the product of their shares c in both rankings: under "a"
    and "b" each rank of n tied items adds 1 / n of each of them. The agreement is :math:`X_d / d`
    ("a"), :math:`X_d / \sqrt{\sum c_S^2 \sum c_L^2}` ("b"), or :math:`2 X_d / (|S_{:d}| +
    |L_{:d}|)` ("w"). Memory grows with items times depths; for many queries without ties use
    `crbo`.

    Examples
    --------
    >>> round(rbo(["a", "b", "c"], ["a", "c", "d"]), 4)
    0.685
    >>> [round(rbo("abc", "bad", 0.5, variant=v), 4) for v in ("truncated", "min", "ext")]
    [0.3333, 0.3863, 0.4167]
    >>> round(rbo(["a", {"b", "c"}], ["a", "b", "c"]), 4)
    0.9775
    """
    _check(p, variant)
    if ties not in ("a", "w", "b"):
        raise ValueError(f"ties is {ties!r}; choose 'a', 'w' or 'b'.")
    positions = [_flatten(first, "first"), _flatten(second, "second")]
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
        # Beyond its end the shorter ranking is taken to have as many items as the depth.
        power = 1 if ties == "w" else 2
        of_short = np.where(depth <= s, (in_short**power).sum(axis=0), depth)
        of_long = (in_long**power).sum(axis=0)
        size = (of_short + of_long) / 2 if ties == "w" else np.sqrt(of_short * of_long)
    # Mean share of the items that only the longer ranking has and that have begun.
    begun = np.maximum((only_long > 0).sum(axis=0), 1)
    prefixes = _Seen(
        overlap=(in_short * in_long).sum(axis=0)[None],
        size=size[None],
        unseen=(only_long.sum(axis=0) / begun)[None],
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
    """Counterfactually estimated RBO: each query's overlap before and after a swap of groups.

    Parameters
    ----------
    original, counterfactual : pandas.DataFrame
        Runs on the collection and on its counterfactual, in which a document keeps its id:
        columns ``query``, ``document`` and ``rank`` (whole numbers from 1, one document each,
        no gaps). The caller breaks ties, for example as trec_eval does.
    p : float
        Persistence, in (0, 1), as for `rbo`.
    depth : int
        Number of documents to compare, 1 or more; shorter lists are taken as they are.
    variant : {"ext", "min", "truncated"}
        As for `rbo`. The thesis does not say which it used. Of ten documents,
        "truncated" is at most 0.651 and "min" at most 0.856 for p = 0.9, so that the values that
        it reports (0.95 to 0.98) are "ext" if they compare ten.

    Returns
    -------
    pandas.Series, shape (Q,)
        RBO of each query, in the order in which `original` has them; index ``query``. 1 ("ext")
        if the swap leaves the ranking as it is: no bias. The thesis reports the mean.

    Raises
    ------
    ValueError
        A missing or duplicate column, ranks that are not whole numbers or have gaps or repeats, a
        document twice in a query, queries that only one run has, ids that are text in one run and
        numbers in the other, a depth below 1, or as for `rbo`.

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
    _check(p, variant)
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
    for one, other, name in zip(
        grouped, grouped[::-1], ("original", "counterfactual"), strict=True
    ):
        alone = one.queries.difference(other.queries, sort=False)
        if len(alone):
            raise ValueError(
                f"Query {alone[0]!r} is in the {name} run only; give both runs the same queries."
            )
    rows = grouped[1].queries.get_indexer(queries)
    both = pd.concat([side.documents for side in grouped], ignore_index=True)
    if both.dtype == object:
        # Objects may be of several types, which arrow refuses.
        both = pd.Series(pd.factorize(both)[0])
    documents = pa.table({"document": both})["document"].combine_chunks()
    second_start = len(runs[0])
    lengths = np.diff(grouped[0].starts), np.diff(grouped[1].starts)[rows]
    overlap = np.zeros((len(queries), depth))
    # The hash table of one query stays in the processor's cache; one of all documents does not.
    for query, row in enumerate(rows):
        ranks = [
            side.ranks[side.starts[number] : side.starts[number + 1]]
            for side, number in zip(grouped, (query, row), strict=True)
        ]
        parts = (
            documents.slice(grouped[0].starts[query], len(ranks[0])),
            documents.slice(second_start + grouped[1].starts[row], len(ranks[1])),
        )
        codes = pa.concat_arrays(parts).dictionary_encode().indices.to_numpy()
        first, second = codes[: len(ranks[0])], codes[len(ranks[0]) :]
        depth_of_meeting = np.full(codes.max() + 1, depth)
        depth_of_meeting[second] = ranks[1]
        # Codes count up where a document is new.
        if first[-1] != len(first) - 1 or (depth_of_meeting[second] != ranks[1]).any():
            refuse_doubles(runs)
        depth_of_meeting = np.maximum(depth_of_meeting[first], ranks[0])
        overlap[query] = np.bincount(depth_of_meeting[depth_of_meeting < depth], minlength=depth)
    ranks = np.arange(1, depth + 1)
    prefixes = _Seen(
        overlap=np.cumsum(overlap, axis=1),
        size=np.broadcast_to(ranks, overlap.shape),
        unseen=np.ones_like(overlap),
        short=np.minimum(np.minimum(*lengths), depth),
        long=np.minimum(np.maximum(*lengths), depth),
    )
    index = pd.Index(queries, name="query")
    return pd.Series(_rbo(prefixes, p, variant), index=index, name=f"RBO {variant}")
