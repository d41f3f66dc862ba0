"""Fair exposure of the items of a list, in closed form.

A policy is a distribution over rankings, and the *exposure* of an item is the mean weight of its
ranks. Exposure is fair if it is proportional to merit. If that is impossible (each item of a
full-length list has at least the weight of the last rank), items of lower merit may get more than
their share but never less.

This defines a linear program over n x k matrices of probabilities with one constraint per pair of
items. Its optimal exposures have a closed form. With items sorted by decreasing merit, the total
exposure of the first m items is at most the sum of the first m rank weights. As a function of
cumulative merit, cumulative exposure is therefore bounded by these points, and it is convex, since
its slopes are exposure over merit. The optimum is the largest convex function below the points,
whose slopes are computed by the pool-adjacent-violators algorithm.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError, require

#: Largest difference between cumulative sums, relative to total exposure, at which a block ends.
BLOCK_TOLERANCE = 1e-9


class Block(NamedTuple):
    """Items that share a contiguous range of ranks."""

    items: IntArray  #: positions in the list, by decreasing exposure
    ranks: slice  #: ranks from 0; the last block of a truncated list has more items than ranks


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
        Exposures; their sum is the sum of the rank weights.

    Raises
    ------
    ValueError
        For a merit that is not above 0, for weights that are negative or increase, or for more
        ranks than items.

    Notes
    -----
    Source: heuss2025, equations 2.5 and 2.8, with the one-sided constraints of the authors' code.
    The closed form, which takes O(n log n) time, is not from the thesis.

    Examples
    --------
    In a list truncated to one rank, exposure can be exactly proportional to merit:

    >>> fair_exposure([1.0, 0.5, 0.5], [1.0]).tolist()
    [0.5, 0.25, 0.25]

    In the full list, the exposure of the item with merit 6 is limited to the first rank weight:

    >>> fair_exposure([6.0, 1.0, 1.0], [1.0, 0.6, 0.4]).tolist()
    [1.0, 0.5, 0.5]
    """
    merits, weights = checked_merits(merits), checked_rank_weights(rank_weights)
    check_ranks(len(merits), len(weights))
    order = np.argsort(-merits, kind="stable")
    exposures = np.zeros(len(merits))
    # Blocks as (merit, exposure, items); a block is merged with the previous one unless its slope
    # is larger.
    blocks: list[tuple[float, float, int]] = []
    padded = np.zeros(len(merits))
    padded[: len(weights)] = weights
    for merit, weight in zip(merits[order].tolist(), padded.tolist(), strict=True):
        count = 1
        while blocks and weight * blocks[-1][0] <= blocks[-1][1] * merit:
            previous = blocks.pop()
            merit, weight, count = merit + previous[0], weight + previous[1], count + previous[2]
        blocks.append((merit, weight, count))
    start = 0
    for merit, weight, count in blocks:
        items = order[start : start + count]
        exposures[items] = merits[items] * (weight / merit)
        start += count
    return exposures


def exposure_blocks(exposures: npt.ArrayLike, rank_weights: npt.ArrayLike) -> list[Block]:
    """Blocks of items that share a contiguous range of ranks, starting at the first rank.

    If the m largest exposures sum to the first m weights, their items can fill the first m ranks
    alone, so the matrix of probabilities can be split into blocks there.
    """
    exposures, weights = np.asarray(exposures, dtype=float), checked_rank_weights(rank_weights)
    n, k = len(exposures), len(weights)
    check_ranks(n, k)
    check_numbers("exposure", exposures)
    order = np.argsort(-exposures, kind="stable")
    padded = np.zeros(n)
    padded[:k] = weights
    slack = np.cumsum(padded) - np.cumsum(exposures[order])
    scale = max(weights.sum(), np.finfo(float).tiny)
    if abs(slack[-1]) > 1e-6 * scale:
        expected = f"{weights.sum():.6g}, as of the rank weights"
        raise DataError(column="sum of exposures", value=float(exposures.sum()), expected=expected)
    if slack.min() < -1e-6 * scale:
        count = int(slack.argmin()) + 1
        raise DataError(
            column=f"sum of the top {count} exposures",
            value=float(exposures[order][:count].sum()),
            fault="which no policy has",
            expected=f"at most {padded[:count].sum():.6g}, as of the rank weights",
        )
    ends = np.flatnonzero(slack[: k - 1] <= BLOCK_TOLERANCE * scale) + 1
    starts = [0, *ends.tolist()]
    blocks = [Block(order[start:stop], slice(start, stop)) for start, stop in pairwise(starts)]
    return [*blocks, Block(order[starts[-1] :], slice(starts[-1], k))]


def checked_merits(merits: npt.ArrayLike) -> FloatArray:
    """Check that merits are finite and above 0, and return them as an array."""
    values = np.asarray(merits, dtype=float)
    require(values.ndim == 1 and len(values), "shape of the merits", values.shape, "one per item")
    for item in np.flatnonzero(~(np.isfinite(values) & (values > 0))):
        raise DataError(
            row=f"item {item}",
            column="merit",
            value=float(values[item]),
            expected="a finite number above 0",
            fix="scale scores to a small positive minimum, such as 1e-4",
        )
    return values


def checked_rank_weights(rank_weights: npt.ArrayLike) -> FloatArray:
    """Check that rank weights are neither negative nor increasing, and return them as an array."""
    values = np.asarray(rank_weights, dtype=float)
    is_list = values.ndim == 1 and len(values)
    require(is_list, "shape of the rank weights", values.shape, "one per rank")
    is_valid = np.isfinite(values).all() and (values >= 0).all() and (np.diff(values) <= 0).all()
    require(is_valid, "rank_weights", values.tolist(), "numbers of 0 or more that do not increase")
    return values


def check_ranks(items: int, ranks: int) -> None:
    """Check that there is a rank, and an item for each."""
    require(0 < ranks <= items, "number of ranks", ranks, f"1 to {items}, the number of items")


def check_numbers(name: str, values: FloatArray) -> None:
    """Check that all numbers are finite, and 0 or more."""
    for value in values[~(np.isfinite(values) & (values >= 0))]:
        raise DataError(column=name, value=float(value), expected="a finite number of 0 or more")
