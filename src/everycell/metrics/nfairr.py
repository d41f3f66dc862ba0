"""NFaiRR: rank-weighted neutrality of documents, relative to the best list.

A document is represented by its number of terms of each group.

The functions take arrays of all queries (axes: queries Q, ranks R from the best, groups G) and
return all cut-offs: ``result[:, k - 1]`` is the value at k. `everycell.metrics.ranked_counts`
makes the arrays from a run, and `everycell.metrics.fairness_frames` returns the measures as frames.

Source: Rekabsaz et al., "Societal biases in retrieved contents" (SIGIR 2021), as in
abolghasemi2026, chapter 4, which is abolghasemi2024.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray
from everycell.metrics.exposure import (
    absolute_distance,
    alignments,
    checked_weights,
    sum_last_axis,
)
from everycell.metrics.ranked_lists import (
    checked_lists,
    checked_target,
)

#: Largest number of group terms of a neutral document, as in the NFaiRR authors' code.
TAU = 1


def neutrality(
    counts: npt.ArrayLike, *, tau: float = TAU, target: npt.ArrayLike | None = None
) -> FloatArray:
    r"""Neutrality (unbiasedness) of documents.

    .. math:: \omega(d) = 1 \text{ if } \sum_i M^{G_i}(d) \le \tau, \text{ else }
              1 - \sum_i \left| \frac{M^{G_i}(d)}{\sum_x M^{G_x}(d)} - J_{G_i} \right|

    Parameters
    ----------
    counts : array, shape (..., G)
        M: number of terms of each group in a document, 0 or more; two or more groups.
    tau
        Documents with at most this many group terms are neutral; 0 or more. The papers do not
        state their value; the NFaiRR authors' code uses 1, so that a single "she" does not count.
    target : array, shape (G,), optional
        J: share of each group in a balanced document, summing to 1; equal shares by default.

    Returns
    -------
    numpy.ndarray, shape (...)
        At most 1 and at least 1 - 2 (1 - smallest share). This bound is 0 for two groups with equal
        shares, and negative for other targets or more groups: values are not clipped at 0.

    Raises
    ------
    ValueError
        A count or tau below 0, one group only, a target that is not a distribution.

    Notes
    -----
    Source: abolghasemi2026, Eq. 4.1.

    Examples
    --------
    >>> neutrality([[0, 0], [1, 0], [2, 0], [3, 1]]).tolist()
    [1.0, 1.0, 0.0, 0.5]
    """
    array = np.asarray(counts, dtype=float)
    if not tau >= 0:
        raise ValueError(f"tau is {tau}; give a number of group terms, 0 or more.")
    if array.ndim == 0:
        raise ValueError(
            f"The counts are the single number {array}; give an array of documents x groups."
        )
    shares = checked_target(target, array.shape[-1])
    if not (array >= 0).all():
        raise ValueError("A count is negative or missing; give numbers of 0 or more.")
    return np.where(
        sum_last_axis(array) <= tau, 1.0, 1 - absolute_distance(alignments(array), shares)
    )


def ideal_fairr(
    omega: npt.ArrayLike,
    depth: int,
    *,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Best FaiRR that any order of the background documents can reach, at every cut-off.

    Parameters
    ----------
    omega : array, shape (Q, S)
        Neutrality of each query's background documents, in any order (see `neutrality`). Pass a
        single row if all queries have the same background.
    depth
        K, the number of cut-offs.
    weights : array, shape (depth,), optional
        See `rank_weights`; the scheme "log" by default.
    listed : array of bool, shape (Q, S), optional
        Which entries are documents; all by default.

    Returns
    -------
    numpy.ndarray, shape (Q, depth)
        FaiRR with the most neutral documents first. Constant beyond the number of background
        documents, as in the authors' code.

    Raises
    ------
    ValueError
        Wrong shapes, or a value that is above 1 or not finite.

    Notes
    -----
    Source: abolghasemi2026, Eq. 4.3, and the NFaiRR authors' code.

    Examples
    --------
    >>> ideal_fairr([[0.0, 1.0]], 3).tolist()
    [[1.0, 1.0, 1.0]]
    """
    array = np.asarray(omega, dtype=float)
    if array.ndim != 2 or not (array <= 1).all() or np.isinf(array).any():
        raise ValueError(
            f"The neutralities have the shape {array.shape} and the largest value "
            f"{array.max(initial=-np.inf):g}; give an array of queries x documents with values of "
            "at most 1."
        )
    mask = np.ones(array.shape, dtype=bool) if listed is None else np.asarray(listed, dtype=bool)
    best = -np.sort(np.where(mask, -array, np.inf), axis=1)[:, :depth]
    best = np.where(np.isfinite(best), best, 0.0)
    padded = np.pad(best, [(0, 0), (0, depth - best.shape[1])])
    return np.cumsum(padded * checked_weights(weights, depth), axis=1)


def nfairr(
    counts: npt.ArrayLike,
    *,
    tau: float = TAU,
    target: npt.ArrayLike | None = None,
    ideal: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Normalised fairness of retrieval results at every cut-off.

    .. math:: FaiRR_k = \sum_{r=1}^{k} \frac{\omega(d^r)}{\log(r + 1)}, \quad
              NFaiRR_k = \frac{FaiRR_k}{IFaiRR_k(S)}

    Parameters
    ----------
    counts : array, shape (Q, R, G)
        Group terms in the document at each rank, 0 or more; two or more groups.
    tau, target
        As for `neutrality`.
    ideal : array, shape (Q, R) or (1, R), optional
        IFaiRR of the background set at each cut-off (see `ideal_fairr`, with the same weights).
        By default the set is assumed to have at least R neutral documents, as large collections
        do, and IFaiRR is the sum of the weights.
    weights : array, shape (R,), optional
        See `rank_weights`; the scheme "log" by default.
    listed : array of bool, shape (Q, R), optional
        Ranks with a document; all by default.

    Returns
    -------
    numpy.ndarray, shape (Q, R)
        Without `ideal`, at most 1, and at least 0 for two groups with equal shares; 1 if every
        document is neutral. For a query with fewer than k documents, their FaiRR is divided by the
        ideal at k, as in the authors' code, so the value decreases as k grows. NaN for a query
        without documents, and where the ideal is 0 or less.

    Raises
    ------
    ValueError
        As for `neutrality`; wrong shapes; a list with a gap.

    Notes
    -----
    Source: abolghasemi2026, Eqs. 4.1 to 4.3. The base of the logarithm cancels.

    Examples
    --------
    The left list of Figure 4.1 with tau = 0, so that a single pronoun makes a document biased;
    then a list with two unbiased documents:

    >>> nfairr([[[0, 1], [1, 0], [1, 0], [0, 1]]], tau=0)[:, 3].tolist()
    [0.0]
    >>> nfairr([[[0, 2], [0, 0], [2, 2]]]).round(3).tolist()
    [[0.0, 0.387, 0.531]]
    """
    array, mask = checked_lists(counts, listed, "counts")
    bias = checked_weights(weights, mask.shape[1])
    omega = np.where(mask, neutrality(array, tau=tau, target=target), 0.0)
    best = np.cumsum(bias)[None] if ideal is None else checked_ideal(ideal, mask)
    is_defined = mask[:, :1] & (best > 0)
    return np.where(
        is_defined, np.cumsum(omega * bias, axis=1) / np.where(best > 0, best, 1), np.nan
    )


def checked_ideal(ideal: npt.ArrayLike, mask: BoolArray) -> FloatArray:
    """Check that the shape of the ideal values fits the lists."""
    best = np.asarray(ideal, dtype=float)
    if best.shape not in (mask.shape, (1, mask.shape[1])):
        raise ValueError(
            f"The ideal has the shape {best.shape} and the lists {mask.shape}; give one value for "
            "each query and rank, or one row for all queries."
        )
    return best
