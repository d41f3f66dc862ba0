"""TExFAIR: exposure of groups through the terms of ranked documents.

TExFAIR sums the exposure of the groups' terms over the list, so that documents biased towards
different groups balance each other, whereas NFaiRR (`everycell.metrics.nfairr`) scores each
document separately.

The functions take arrays of all queries (axes: queries Q, ranks R from the best, groups G) and
return all cut-offs: ``result[:, k - 1]`` is the value at k. `everycell.metrics.ranked_groups`
makes the arrays from a run, and `everycell.metrics.term_fairness` returns the measures as frames.

For `ir_measures`, ``TExFAIR(counts='counts.parquet')@10`` has the parameters of
`everycell.metrics.run_measure.TermMeasure`.

Source: abolghasemi2026, chapter 4, which is abolghasemi2024.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray
from everycell.metrics.ranked_groups import (
    RankedGroups,
    absolute_distance,
    check_lists,
    checked_target,
    checked_weights,
    group_shares,
    rank_weights,
    sum_last_axis,
)
from everycell.metrics.run_measure import TermMeasure, register


def term_exposure(
    counts: npt.ArrayLike,
    lengths: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Exposure of terms in ranked lists, at every cut-off.

    .. math:: TE@k(t, q) = \sum_{r=1}^{k} \frac{tf(t, d^r)}{|d^r|} \cdot \frac{1}{\log_2(r + 1)}

    Parameters
    ----------
    counts : array, shape (Q, R, T)
        Occurrences of each term, or of all terms of a group, in the document at each rank.
    lengths : array, shape (Q, R)
        Number of tokens of the document at each rank. A document of length 0 adds no exposure.
    weights : array, shape (R,), optional
        See `rank_weights`; the scheme "log" by default.
    listed : array of bool, shape (Q, R), optional
        Ranks with a document; all by default.

    Returns
    -------
    numpy.ndarray, shape (Q, R, T)
        0 or more and non-decreasing in the cut-off. The exposure of a group is the sum over its
        terms, so counts per group yield it directly.

    Raises
    ------
    ValueError
        Wrong shapes, a negative or infinite value, a document with more occurrences than
        tokens, a list with a gap.

    Notes
    -----
    Source: abolghasemi2026, Eqs. 4.7 and 4.8.

    Examples
    --------
    >>> term_exposure([[[1, 0], [1, 2]]], [[4, 4]]).round(4).tolist()
    [[[0.25, 0.0], [0.4077, 0.3155]]]
    """
    lists = check_lists(counts, lengths, listed)
    return _exposure(lists, checked_weights(weights, lists.listed.shape[1]))


def _exposure(lists: RankedGroups, weights: FloatArray) -> FloatArray:
    """Exposure of terms at every cut-off."""
    factor = weights / np.where(lists.lengths > 0, lists.lengths, 1)
    return np.cumsum(lists.counts * factor[:, :, None], axis=1)


def group_representation(exposure: npt.ArrayLike) -> FloatArray:
    r"""Share of each group in the exposure of all groups' terms, shape (..., G).

    .. math:: p(G_i | q, k) = \frac{\sum_{t \in V_{G_i}} TE@k(t, q)}
              {\sum_x \sum_{t \in V_{G_x}} TE@k(t, q)}

    NaN if no group has exposure. Source: abolghasemi2026, Eq. 4.9.
    """
    return group_shares(np.asarray(exposure, dtype=float), np.nan)


def rbdf(
    counts: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Rank-biased discounting factor: weighted share of documents with a group term.

    .. math:: RBDF(q, k) = \frac{\sum_{r=1}^{k} 1[d^r \in S_R] / \log(1 + r)}
              {\sum_{r=1}^{k} 1 / \log(1 + r)}

    A single term puts a document in S_R, regardless of NFaiRR's tau. Shape (Q, R), in [0, 1];
    constant beyond the end of a short list, NaN for a query without documents. Source:
    abolghasemi2026, Eq. 4.11; the numerator there lacks the indicator, which Eq. 4.12 has.
    """
    lists = check_lists(counts, listed=listed)
    return _rbdf(lists, checked_weights(weights, lists.listed.shape[1]))


def _rbdf(lists: RankedGroups, weights: FloatArray) -> FloatArray:
    """Weighted share of documents with a group term at every cut-off."""
    bias = lists.listed * weights
    total = np.cumsum(bias, axis=1)
    with_terms = np.cumsum(bias * (sum_last_axis(lists.counts) > 0), axis=1)
    return np.divide(with_terms, total, out=np.full(bias.shape, np.nan), where=total > 0)


def largest_divergence(target: npt.ArrayLike | None, groups: int) -> float:
    r"""Largest possible TED: all exposure on the group with the smallest target.

    .. math:: \max(TED) = 2 (1 - \min_i \hat{p}_{G_i})

    Source: abolghasemi2026, Eq. 4.13, which states the value for two equal groups.
    """
    return float(2 * (1 - checked_target(target, groups).min()))


def ted(
    counts: npt.ArrayLike,
    lengths: npt.ArrayLike,
    target: npt.ArrayLike | None = None,
    *,
    proportional: bool = True,
    without_terms: float = np.nan,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Term exposure-based divergence from the target, at every cut-off.

    .. math:: TED(q, k) = \sum_i |p(G_i | q, k) - \hat{p}_{G_i}| \cdot RBDF(q, k)

    Parameters
    ----------
    counts : array, shape (Q, R, G)
        Group terms in the document at each rank, 0 or more; two or more groups.
    lengths : array, shape (Q, R)
        Number of tokens of the document at each rank.
    target : array, shape (G,), optional
        Target share of each group, summing to 1; equal shares by default.
    proportional
        Whether the divergence is multiplied by `rbdf` (Eq. 4.12) or not (Eq. 4.10).
    without_terms
        Value, if not `proportional`, of a list without group terms: Eq. 4.9 is then 0/0, and the
        papers do not define it. NaN leaves it undefined; 0 treats it as unbiased, as RBDF does.
    weights, listed
        As for `term_exposure`.

    Returns
    -------
    numpy.ndarray, shape (Q, R)
        In [0, `largest_divergence`]. With `proportional`, 0 if no document has a group term.
        Constant beyond the end of a short list; NaN for a query without documents.

    Raises
    ------
    ValueError
        Only one group, a target that is not a distribution, or as for `term_exposure`.

    Notes
    -----
    Source: abolghasemi2026, Eqs. 4.10 and 4.12.

    Examples
    --------
    >>> ted([[[1, 0], [0, 0]]], [[5, 5]]).round(3).tolist()
    [[1.0, 0.613]]
    >>> ted([[[1, 0], [0, 0]]], [[5, 5]], proportional=False).round(3).tolist()
    [[1.0, 1.0]]
    """
    lists = check_lists(counts, lengths, listed)
    _, ranks, groups = lists.counts.shape
    divergence, factor = divergence_and_factor(
        lists, checked_target(target, groups), checked_weights(weights, ranks)
    )
    if proportional:
        return apply_discount(divergence, factor)
    # The factor is NaN for queries without documents, and only for them.
    empty = np.isnan(divergence) & ~np.isnan(factor)
    return np.where(empty, without_terms, divergence)


def divergence_and_factor(
    lists: RankedGroups, target: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """TED without RBDF, with NaN where no group has exposure; and RBDF."""
    shares = group_shares(_exposure(lists, weights), np.nan)
    return absolute_distance(shares, target), _rbdf(lists, weights)


def apply_discount(divergence: FloatArray, factor: FloatArray) -> FloatArray:
    """Multiply TED by RBDF; 0 where no group has exposure."""
    return np.where(np.isnan(divergence), 0.0, divergence) * factor


def texfair(
    counts: npt.ArrayLike,
    lengths: npt.ArrayLike,
    target: npt.ArrayLike | None = None,
    *,
    proportional: bool = True,
    without_terms: float = np.nan,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Term exposure-based fairness of ranked lists, at every cut-off.

    .. math:: TExFAIR(q, k) = \max(TED) - TED(q, k)

    Parameters
    ----------
    counts, lengths, target, proportional, weights, listed
        As for `ted`.
    without_terms
        As for `ted`; since it is a divergence, 0 gives the highest fairness.

    Returns
    -------
    numpy.ndarray, shape (Q, R)
        In [0, `largest_divergence`], which is [0, 1] for two groups with equal shares. Lists with
        the target shares have the highest value and, with `proportional`, so do lists without
        group terms. To compare targets, divide by `largest_divergence`. NaN as for `ted`.

    Raises
    ------
    ValueError
        As for `ted`.

    Notes
    -----
    Source: abolghasemi2026, Eq. 4.13.

    Examples
    --------
    The two lists of Figure 4.1, with one pronoun in each document and documents of equal length.
    Each document is completely biased; the left list represents both groups, the right list one:

    >>> she, he = [1, 0], [0, 1]
    >>> lists = [[he, she, she, he], [he, he, he, he]]
    >>> texfair(lists, [[10] * 4] * 2)[:, 3].round(3).tolist()
    [0.883, 0.0]
    """
    groups = np.shape(counts)[-1] if np.ndim(counts) else 0
    divergence = ted(
        counts,
        lengths,
        target,
        proportional=proportional,
        without_terms=without_terms,
        weights=weights,
        listed=listed,
    )
    # Rounding in the sums of shares could give a value below 0.
    return np.maximum(largest_divergence(target, groups) - divergence, 0)


class _TExFAIR(TermMeasure):
    """TExFAIR: balance of the exposure of the groups' terms, abolghasemi2026, Eq. 4.13."""

    __name__ = NAME = "TExFAIR"

    def values(self, lists: RankedGroups) -> FloatArray:
        """TExFAIR of each query at each cut-off."""
        _, ranks, groups = lists.counts.shape
        parts = divergence_and_factor(lists, checked_target(None, groups), rank_weights(ranks))
        return np.maximum(largest_divergence(None, groups) - apply_discount(*parts), 0)


TExFAIR = register(_TExFAIR)
