"""Values of a changed ranking: functions of ranks, to be explained by features.

A value function takes the ranks of n documents in m rankings without ties, shape (m, n), from 1,
and gives one value per ranking, shape (m,), or k values, shape (m, k).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from everycell.engine.arrays import FloatArray, IntArray

ValueFunction = Callable[[IntArray], FloatArray]
Ties = Literal["first", "last"]

#: Number of ranks in a word.
_BITS = 64


def ranks_of(scores: npt.ArrayLike, ties: Ties = "first") -> IntArray:
    """Ranks of documents by decreasing score.

    Parameters
    ----------
    scores : array_like of float, shape (..., n)
        Scores of n documents in any number of rankings.
    ties : {"first", "last"}
        Which of several documents with the same score ranks higher: the one that comes first, or
        last.

    Returns
    -------
    numpy.ndarray of int, shape (..., n)
        1 for the highest score.

    Examples
    --------
    >>> ranks_of([0.5, 0.9, 0.5]).tolist(), ranks_of([0.5, 0.9, 0.5], ties="last").tolist()
    ([2, 1, 3], [3, 1, 2])
    """
    values = np.asarray(scores, dtype=float)
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
    """Exposure of ranks, 1 / log2(1 + rank); 1 for the first.

    Notes
    -----
    Source: heuss2025, equation 4.8 prints 1 / log2(rank), which is undefined at rank 1; the
    released code adds 1.

    Examples
    --------
    >>> exposure([1, 3]).tolist()
    [1.0, 0.5]
    """
    return 1 / np.log2(1 + np.asarray(ranks, dtype=float))


def kendall(reference: npt.ArrayLike) -> ValueFunction:
    """Kendall's tau to a ranking without ties.

    Parameters
    ----------
    reference : array_like of int, shape (n,)
        Ranks of the explained ranking, n of 2 or more.

    Returns
    -------
    callable
        From 1 for the same order to -1 for the opposite.

    Raises
    ------
    ValueError
        For fewer than two documents, which have no order.

    Notes
    -----
    Source: heuss2025, equation 4.5.

    Examples
    --------
    >>> kendall([1, 2, 3])(np.array([[1, 2, 3], [1, 3, 2], [3, 2, 1]])).round(3).tolist()
    [1.0, 0.333, -1.0]
    """
    reference_ranks = _reference(reference)
    if len(reference_ranks) < 2:
        raise ValueError(f"The list has {len(reference_ranks)} document: give two or more.")
    order = np.argsort(reference_ranks)
    pairs = len(reference_ranks) * (len(reference_ranks) - 1) / 2
    firsts = range(0, len(reference_ranks), _BITS)

    def value(ranks: IntArray) -> FloatArray:
        # Ranks of the documents so far, as bits: those above that of the next one are discordant.
        seen_bits = np.zeros((len(firsts), len(ranks)), dtype=np.uint64)
        discordant = np.zeros(len(ranks), dtype=np.int64)
        for document in order:
            positions = ranks[:, document].astype(np.int64) - 1
            for word, first in zip(seen_bits, firsts, strict=True):
                bits = positions - first
                discordant += np.bitwise_count(word >> bits.clip(0, _BITS).astype(np.uint64))
                # A shift by 64 or more, or by what is below 0, leaves no bit.
                word |= np.uint64(1) << bits.astype(np.uint64)
        return 1 - 2 * discordant / pairs

    return value


def weighted_rank_difference(reference: npt.ArrayLike) -> ValueFunction:
    """Sum of changes of rank, in which documents at the top count most.

    Notes
    -----
    Source: heuss2025, equation 4.6, with log2(1 + rank) for the log2(rank) that it prints, which is
    0 for the first document. The sign is as printed: 0 for the same order, and lower where top
    documents move up past other top documents.

    Examples
    --------
    >>> weighted_rank_difference([1, 2, 3])(np.array([[1, 2, 3], [3, 1, 2]])).round(3).tolist()
    [0.0, 0.869]
    """
    reference_ranks = _reference(reference)
    weights = exposure(reference_ranks)

    def value(ranks: IntArray) -> FloatArray:
        return (ranks - reference_ranks) @ weights

    return value


def negative_rank(document: int) -> ValueFunction:
    """Rank of one document, negative so that more is better.

    Notes
    -----
    Source: heuss2025, equation 4.7.

    Examples
    --------
    >>> negative_rank(0)(np.array([[2, 1]])).tolist()
    [-2.0]
    """
    return lambda ranks: -ranks[:, document].astype(float)


def exposures(documents: slice | list[int] = slice(None)) -> ValueFunction:
    """Exposure of each of some documents, all if none are named; k values per ranking."""
    return lambda ranks: exposure(ranks[:, documents])


def exposure_difference(reference: npt.ArrayLike) -> ValueFunction:
    """Sum of absolute changes of exposure, 0 for the same order.

    Notes
    -----
    Source: heuss2025, section 4.6 (v^exp-diff).

    Examples
    --------
    >>> exposure_difference([1, 2])(np.array([[1, 2], [2, 1]])).round(3).tolist()
    [0.0, 0.738]
    """
    reference_exposure = exposure(_reference(reference))
    return lambda ranks: np.abs(exposure(ranks) - reference_exposure).sum(axis=1)


def _reference(ranks: npt.ArrayLike) -> IntArray:
    array = np.asarray(ranks)
    if array.ndim != 1 or sorted(array.tolist()) != list(range(1, len(array) + 1)):
        raise ValueError(
            "The reference is not a ranking: give each rank from 1 to the number of documents once."
        )
    return array.astype(np.int64)
