"""Rank-biased overlap (RBO) of two rankings, with ties.

Source: Webber, Moffat and Zobel, "A similarity measure for indefinite rankings" (TOIS 28(4), 2010);
ties after Corsi and Urbano, "The treatment of ties in rank-biased overlap" (SIGIR 2024).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError, require

Variant = Literal["truncated", "min", "ext"]
Ties = Literal["a", "w", "b"]
#: A ranking, best item first; tied items are grouped in a set.
Ranking = Sequence[Hashable | AbstractSet[Hashable]]
#: Default persistence of all functions and commands, as in abolghasemi2026.
PERSISTENCE = 0.9


class Prefixes(NamedTuple):
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


def check_arguments(p: float, variant: str) -> None:
    """Check the persistence and the variant."""
    require(0 < p < 1, "p", p, "a persistence above 0 and below 1")
    require(variant in get_args(Variant), "variant", variant, "'truncated', 'min' or 'ext'")


def rbo_of_prefixes(prefixes: Prefixes, p: float, variant: Variant) -> FloatArray:
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
        raise DataError(
            f"{name} ranking",
            column="type",
            value=type(ranking).__name__,
            fault="which has no ranks",
            fix="give a list that starts with the best item, with tied items in a set",
        )
    positions: dict[Hashable, tuple[int, int]] = {}
    for entry in ranking:
        if not isinstance(entry, (Hashable, AbstractSet)):
            raise DataError(
                f"{name} ranking",
                column="item",
                value=entry,
                expected="a string or a number, or a set of tied items",
            )
        tied_items = entry if isinstance(entry, AbstractSet) else (entry,)
        start = len(positions)
        for item in tied_items:
            is_missing = item is None or item is pd.NA or item != item
            if is_missing or item in positions:
                fault = "which is missing" if is_missing else "which occurs twice"
                raise DataError(f"{name} ranking", None, "item", item, fault, fix="remove it")
            positions[item] = (start, start + len(tied_items) - 1)
    if not positions:
        raise DataError(f"{name} ranking", fault="is empty", fix="give one item or more")
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
    check_arguments(p, variant)
    require(ties in get_args(Ties), "ties", ties, "'a', 'w' or 'b'")
    positions = [_tie_ranges(first, "first"), _tie_ranges(second, "second")]
    has_text = [{isinstance(item, str) for item in ranking} for ranking in positions]
    if {True} in has_text and {False} in has_text:
        raise DataError(
            fault="The items are strings in one ranking and not in the other, so that none match",
            fix="use one type",
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
    prefixes = Prefixes(
        overlap=(in_short * in_long).sum(axis=0)[None],
        size=size[None],
        unseen=(only_long.sum(axis=0) / unseen_items)[None],
        short=np.array([s]),
        long=np.array([depths]),
    )
    return float(rbo_of_prefixes(prefixes, p, variant)[0])
