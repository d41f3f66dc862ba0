"""Fair exposure of the items of a list, in closed form.

A ranking shows an item at one rank; a policy draws rankings, and the *exposure* of an item is the
mean weight of its ranks. Exposure is fair where it is proportional to merit. Where that is
impossible (every item of a full-length list gets at least the weight of the last rank), items of
lower merit may get more than their share but never less.

That is a linear program over matrices of n x k probabilities with a row for each pair of items.
Its exposures need no solver: with items sorted by merit, the total exposure of m items is at most
the sum of the first m rank weights. So the sum of exposures, as a function of the sum of merits,
lies below these points, and it is convex, since its slopes are exposure over merit. The best one is
the greatest convex function below the points, whose slopes the pool-adjacent-violators algorithm
finds.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.engine.arrays import FloatArray, IntArray

#: Difference of sums, relative to total exposure, below which a block of items ends.
TOUCHES = 1e-9


class Block(NamedTuple):
    """Items that share a contiguous range of ranks among themselves."""

    items: IntArray  #: positions in the list, by decreasing exposure
    ranks: slice  #: ranks from 0; the last block of a cut list has more items than ranks


def logarithmic_rank_weights(ranks: int) -> FloatArray:
    """Weights 1 / log2(1 + rank) of ranks from 1."""
    return 1 / np.log2(np.arange(2, ranks + 2))


def fair_exposure(merits: npt.ArrayLike, rank_weights: npt.ArrayLike) -> FloatArray:
    """Fair exposures with the highest utility.

    Parameters
    ----------
    merits : array_like of float, shape (n,)
        Merit of each item, above 0, in any order. Equal merits get equal exposures.
    rank_weights : array_like of float, shape (k,)
        Weight of each rank, k <= n: not negative and not increasing. Ranks beyond k have weight 0.

    Returns
    -------
    numpy.ndarray of float64, shape (n,)
        Exposures, which sum to the sum of the weights.

    Raises
    ------
    ValueError
        For a merit that is not above 0, for weights that are negative or increase, or for more
        ranks than items.

    Notes
    -----
    Source: heuss2025, equations 2.5 and 2.8, with the one-sided rows of the authors' code. The
    closed form is ours: O(n log n).

    Examples
    --------
    A list truncated to one rank can be exactly proportional to merit:

    >>> fair_exposure([1.0, 0.5, 0.5], [1.0]).tolist()
    [0.5, 0.25, 0.25]

    In the full list the item of merit 6 can have no more than the first rank:

    >>> fair_exposure([6.0, 1.0, 1.0], [1.0, 0.6, 0.4]).tolist()
    [1.0, 0.5, 0.5]
    """
    merits, weights = checked_merits(merits), checked_rank_weights(rank_weights)
    if len(weights) > len(merits):
        raise ValueError(
            f"There are {len(weights)} ranks for {len(merits)} items: cut the rank weights to "
            f"{len(merits)} or give more items."
        )
    order = np.argsort(-merits, kind="stable")
    exposures = np.zeros(len(merits))
    # Blocks as [merit, exposure, items]; a block whose slope does not rise joins the one before.
    blocks: list[tuple[float, float, int]] = []
    padded = np.zeros(len(merits))
    padded[: len(weights)] = weights
    for merit, weight in zip(merits[order].tolist(), padded.tolist(), strict=True):
        count = 1
        while blocks and weight * blocks[-1][0] <= blocks[-1][1] * merit:
            before = blocks.pop()
            merit, weight, count = merit + before[0], weight + before[1], count + before[2]
        blocks.append((merit, weight, count))
    start = 0
    for merit, weight, count in blocks:
        items = order[start : start + count]
        exposures[items] = merits[items] * (weight / merit)
        start += count
    return exposures


def exposure_blocks(exposures: npt.ArrayLike, rank_weights: npt.ArrayLike) -> list[Block]:
    """Blocks of items that share a contiguous range of ranks, from the first rank on.

    Where the m largest exposures sum to the first m weights, no other item can be among the first
    m ranks: any matrix of probabilities splits into blocks there.
    """
    exposures, weights = np.asarray(exposures, dtype=float), checked_rank_weights(rank_weights)
    n, k = len(exposures), len(weights)
    if k > n:
        raise ValueError(
            f"There are {k} ranks for {n} items: cut the rank weights to {n} or give more items."
        )
    if not np.isfinite(exposures).all() or (exposures < 0).any():
        raise ValueError("An exposure is negative or not a number: it must be 0 or more.")
    order = np.argsort(-exposures, kind="stable")
    padded = np.zeros(n)
    padded[:k] = weights
    # The sums before each item, and after the last.
    slack = np.cumsum(padded) - np.cumsum(exposures[order])
    scale = max(weights.sum(), np.finfo(float).tiny)
    if abs(slack[-1]) > 1e-6 * scale:
        raise ValueError(
            f"The exposures sum to {exposures.sum():.6g} and the rank weights to "
            f"{weights.sum():.6g}: a policy gives out exactly what the ranks have."
        )
    if slack.min() < -1e-6 * scale:
        count = int(slack.argmin()) + 1
        raise ValueError(
            f"The {count} items of most exposure have {exposures[order][:count].sum():.6g} "
            f"together and the first {count} ranks {padded[:count].sum():.6g}: no policy has these "
            "exposures."
        )
    ends = np.flatnonzero(slack[: k - 1] <= TOUCHES * scale) + 1
    starts = [0, *ends.tolist()]
    blocks = [Block(order[start:stop], slice(start, stop)) for start, stop in pairwise(starts)]
    return [*blocks, Block(order[starts[-1] :], slice(starts[-1], k))]


def checked_merits(merits: npt.ArrayLike) -> FloatArray:
    """Merits as an array, all above 0."""
    values = np.asarray(merits, dtype=float)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"The merits have the shape {values.shape}: they must be a list of one number per item."
        )
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(wrong):
        raise ValueError(
            f"The merit of item {wrong[0]} is {values[wrong[0]]:g}: exposure is shared by merit, "
            "so each must be above 0; scale scores to a small positive minimum, such as 1e-4."
        )
    return values


def checked_rank_weights(rank_weights: npt.ArrayLike) -> FloatArray:
    """Weights of ranks as an array, not negative and not increasing."""
    values = np.asarray(rank_weights, dtype=float)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"The rank weights have the shape {values.shape}: give a list of one number per rank."
        )
    if not np.isfinite(values).all() or (values < 0).any() or (np.diff(values) > 0).any():
        raise ValueError(
            "The rank weights are negative somewhere or rise: a rank must have no less weight than "
            "the next one, and none below 0."
        )
    return values
