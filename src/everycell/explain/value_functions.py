"""Value functions of rankings, which an explanation attributes to features.

A value function takes the ranks (from 1, without ties) of n documents in m rankings, shape (m, n),
and returns one value per ranking, shape (m,), or k values, shape (m, k).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError, require

ValueFunction = Callable[[IntArray], FloatArray]
Ties = Literal["first", "last"]

#: Number of ranks in a 64-bit word.
_BITS = 64


def ranks_of(scores: npt.ArrayLike, ties: Ties = "first") -> IntArray:
    """Ranks of documents by decreasing score.

    Parameters
    ----------
    scores : array_like of float, shape (..., n)
        Scores of n documents in any number of rankings.
    ties : {"first", "last"}
        Which of several documents with the same score ranks higher: the first or the last.

    Returns
    -------
    numpy.ndarray of int, shape (..., n)
        1 for the highest score.

    Raises
    ------
    ValueError
        For a score that is NaN.

    Examples
    --------
    >>> ranks_of([0.5, 0.9, 0.5]).tolist(), ranks_of([0.5, 0.9, 0.5], ties="last").tolist()
    ([2, 1, 3], [3, 1, 2])
    """
    values = np.asarray(scores, dtype=float)
    if np.isnan(values).any():
        raise DataError(column="score", value=float("nan"), expected="one number per document")
    if ties == "first":
        order = np.argsort(-values, axis=-1, kind="stable")
    else:
        order = np.argsort(values, axis=-1, kind="stable")[..., ::-1]
    # The inverse of a permutation.
    ranks = np.empty_like(order)
    positions = np.broadcast_to(np.arange(1, values.shape[-1] + 1), order.shape)
    np.put_along_axis(ranks, order, positions, axis=-1)
    return ranks


def exposure(ranks: npt.ArrayLike) -> FloatArray:
    """Exposure of ranks, 1 / log2(1 + rank).

    Source: heuss2025, equation 4.8, which has 1 / log2(rank), undefined at rank 1; the released
    code adds 1.
    """
    return 1 / np.log2(1 + np.asarray(ranks, dtype=float))


def kendall(reference: npt.ArrayLike) -> ValueFunction:
    """Kendall's tau with a reference ranking without ties.

    Parameters
    ----------
    reference : array_like of int, shape (n,)
        Ranks of the explained ranking, n of 2 or more.

    Returns
    -------
    callable
        Value function with values from -1 (opposite order) to 1 (same order).

    Raises
    ------
    ValueError
        For fewer than two documents.

    Notes
    -----
    Source: heuss2025, equation 4.5.

    Examples
    --------
    >>> kendall([1, 2, 3])(np.array([[1, 2, 3], [1, 3, 2], [3, 2, 1]])).round(3).tolist()
    [1.0, 0.333, -1.0]
    """
    reference_ranks = _check_reference(reference)
    number = len(reference_ranks)
    require(number >= 2, "number of documents", number, "two or more")
    order = np.argsort(reference_ranks)
    pairs = len(reference_ranks) * (len(reference_ranks) - 1) / 2
    firsts = range(0, len(reference_ranks), _BITS)

    def value(ranks: IntArray) -> FloatArray:
        # Bits of the ranks of earlier documents; a bit above the rank of the next document marks
        # a discordant pair.
        seen_bits = np.zeros((len(firsts), len(ranks)), dtype=np.uint64)
        discordant = np.zeros(len(ranks), dtype=np.int64)
        for document in order:
            positions = ranks[:, document].astype(np.int64) - 1
            for word, first in zip(seen_bits, firsts, strict=True):
                bits = positions - first
                discordant += np.bitwise_count(word >> bits.clip(0, _BITS).astype(np.uint64))
                # A shift by 64 or more, or by a negative number, leaves no bit.
                word |= np.uint64(1) << bits.astype(np.uint64)
        return 1 - 2 * discordant / pairs

    return value


def weighted_rank_difference(reference: npt.ArrayLike) -> ValueFunction:
    """Sum of rank changes, weighted by exposure in the reference ranking.

    Source: heuss2025, equation 4.6, but with log2(1 + rank) instead of log2(rank), which is 0 for
    the first document. The sign is as published: rank changes are positive for documents that move
    down.
    """
    reference_ranks = _check_reference(reference)
    weights = exposure(reference_ranks)

    def value(ranks: IntArray) -> FloatArray:
        return (ranks - reference_ranks) @ weights

    return value


def negative_rank(document: int) -> ValueFunction:
    """Negative rank of a document, so higher values are better (heuss2025, eq. 4.7)."""
    return lambda ranks: -ranks[:, document].astype(float)


def exposures(documents: slice | list[int] = slice(None)) -> ValueFunction:
    """Exposure of each document, by default all documents; k values per ranking."""
    return lambda ranks: exposure(ranks[:, documents])


def exposure_difference(reference: npt.ArrayLike) -> ValueFunction:
    """Sum of absolute changes of exposure, 0 for the same order.

    Source: heuss2025, section 4.6 (v^exp-diff).
    """
    reference_exposure = exposure(_check_reference(reference))
    return lambda ranks: np.abs(exposure(ranks) - reference_exposure).sum(axis=1)


def _check_reference(ranks: npt.ArrayLike) -> IntArray:
    array = np.asarray(ranks)
    is_ranking = array.ndim == 1 and sorted(array.tolist()) == list(range(1, len(array) + 1))
    expected = "each rank from 1 to the number of documents once"
    require(is_ranking, "reference", array.tolist(), expected)
    return array.astype(np.int64)
