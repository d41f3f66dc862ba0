"""Measures of a policy over rankings: fairness of exposure, utility, and displayed outliers.

A displayed item is an *outlier* if its score is more than 2.5 population standard deviations from
the mean of the displayed items. Among n items, the largest possible distance is sqrt(n - 1), so
none of seven or fewer items can be an outlier.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.fair_ranking.policies import Policy

#: Number of standard deviations from the mean beyond which an item is an outlier.
THRESHOLD = 2.5


def exposure_error(exposures: npt.ArrayLike, relevance: npt.ArrayLike) -> float:
    """Squared distance of exposures from exposures proportional to relevance (EE-L).

    Parameters
    ----------
    exposures : array_like of float, shape (n,)
        Exposure of each item, such as the result of :meth:`.Policy.exposures`.
    relevance : array_like of float, shape (n,)
        Relevance of each item, 0 or more; at least one item is relevant.

    Raises
    ------
    ValueError
        For a list without relevant items, negative relevance, an exposure that is not finite, or
        lists of different lengths.

    Notes
    -----
    Source: heuss2025, equation 2.11. 0 is best.

    Examples
    --------
    >>> exposure_error([1.0, 0.5], [1, 1])
    0.125
    """
    values, grades = np.asarray(exposures, dtype=float), _checked_relevance(relevance)
    if values.shape != grades.shape:
        raise ValueError(
            f"There are {values.size} exposures for {grades.size} items: give one per item."
        )
    if not np.isfinite(values).all():
        raise ValueError("An exposure is not finite: give a number per item.")
    return float(((values - values.sum() * grades / grades.sum()) ** 2).sum())


def policy_ndcg(policy: Policy, relevance: npt.ArrayLike, cutoff: int) -> float:
    """NDCG of the top ranks, averaged over a policy.

    Parameters
    ----------
    policy : Policy
        Policy whose rankings have at least ``cutoff`` ranks or all items.
    relevance : array_like of float, shape (n,)
        Grades of all items. The gain is 2^grade - 1 and the discount log2(1 + rank).
    cutoff : int
        Cut-off, 1 or more.

    Raises
    ------
    ValueError
        For a list without relevant items, or a cut-off below 1 or beyond the rankings.

    Examples
    --------
    >>> policy = Policy(np.array([[0, 1], [1, 0]]), np.array([0.5, 0.5]))
    >>> round(policy_ndcg(policy, [1, 0], 1), 3), round(policy_ndcg(policy, [1, 0], 2), 3)
    (0.5, 0.815)
    """
    gains = 2 ** _checked_relevance(relevance) - 1
    ranks = min(cutoff, len(gains))
    if not 1 <= ranks <= policy.rankings.shape[1]:
        raise ValueError(
            f"The cut-off is {cutoff}, but the rankings have {policy.rankings.shape[1]} ranks: "
            "give a cut-off from 1 to this number."
        )
    discounts = 1 / np.log2(np.arange(2, ranks + 2))
    best = np.sort(gains)[::-1][:ranks] @ discounts
    return float(policy.weights @ (gains[policy.rankings[:, :ranks]] @ discounts) / best)


def z_scores(values: npt.ArrayLike) -> FloatArray:
    """Signed distances from the mean in population standard deviations, along the last axis.

    If all values are equal, all distances are 0.

    Examples
    --------
    >>> z_scores([[1.0, 1.0, 1.0, 5.0], [2.0, 2.0, 2.0, 2.0]]).round(3).tolist()
    [[-0.577, -0.577, -0.577, 1.732], [0.0, 0.0, 0.0, 0.0]]
    """
    scores = np.asarray(values, dtype=float)
    if not np.isfinite(scores).all():
        raise ValueError("A score is not finite, so outliers are undefined: give finite scores.")
    deviations = scores - scores.mean(axis=-1, keepdims=True)
    # Squares of tiny values would be 0, so scale by a power of two, which does not round.
    exponents = np.frexp(np.abs(deviations).max(axis=-1, keepdims=True))[1]
    deviations = np.ldexp(deviations, -exponents)
    spread = np.sqrt((deviations**2).mean(axis=-1, keepdims=True))
    # The mean of equal values may differ from them by rounding.
    is_constant = (np.ptp(scores, axis=-1, keepdims=True) == 0) | (spread == 0)
    return np.where(is_constant, 0.0, deviations / np.where(is_constant, 1.0, spread))


def list_outliers(scores: npt.ArrayLike, *, threshold: float = THRESHOLD) -> FloatArray:
    """Signed distance from the mean of each outlier of a complete list; 0 for other items.

    Examples
    --------
    >>> list_outliers([0.0] * 9 + [1.0]).round(3).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]
    """
    distances = z_scores(scores)
    return np.where(np.abs(distances) > threshold, distances, 0.0)


def holds_outlier(
    scores: npt.ArrayLike, *, displayed: int | None = None, threshold: float = THRESHOLD
) -> Callable[[IntArray], BoolArray]:
    """Make a test of whether the displayed items of a ranking include an outlier.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        Value of each item that may make it an outlier, such as its number of citations.
    displayed : int, optional
        Number of ranks displayed together; all by default.
    threshold : float
        Number of standard deviations beyond which an item is an outlier.

    Returns
    -------
    callable
        Function of rankings, shape (m, k), that returns m booleans, for :func:`.resample`.

    Examples
    --------
    >>> test = holds_outlier([0.0] * 9 + [1.0], displayed=9)
    >>> test(np.array([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [9, 1, 2, 3, 4, 5, 6, 7, 8, 0]])).tolist()
    [False, True]
    """
    values = np.asarray(scores, dtype=float)

    def test(rankings: IntArray) -> BoolArray:
        return np.any(np.abs(z_scores(values[rankings[:, :displayed]])) > threshold, axis=1)

    return test


def outlier_probability(
    policy: Policy,
    scores: npt.ArrayLike,
    *,
    displayed: int | None = None,
    threshold: float = THRESHOLD,
) -> float:
    """Probability that a ranking of a policy shows an outlier, P(u).

    Parameters are those of :func:`holds_outlier`.

    Notes
    -----
    Source: heuss2025, equation 2.7 and section 2.5.

    Examples
    --------
    >>> policy = Policy(np.array([list(range(8)), list(range(1, 9))]), np.array([0.25, 0.75]))
    >>> outlier_probability(policy, [9.0] + [0.0] * 8)
    0.25
    """
    test = holds_outlier(scores, displayed=displayed, threshold=threshold)
    return float(policy.weights[test(policy.rankings)].sum())


def outlierness_published(
    policy: Policy,
    scores: npt.ArrayLike,
    *,
    displayed: int | None = None,
    threshold: float = THRESHOLD,
) -> float:
    """Sum of the distances of outliers from the mean, averaged over a policy.

    Parameters are those of :func:`holds_outlier`.

    Notes
    -----
    Source: heuss2025, section 2.5, as published: distances keep their sign and are summed over
    outliers. The tables of the thesis use :func:`outlierness_released`.

    Examples
    --------
    >>> policy = Policy(np.arange(10)[None], np.ones(1))
    >>> round(outlierness_published(policy, [0.0] * 9 + [1.0]), 3)
    3.0
    """
    displayed_rankings = policy.rankings[:, :displayed]
    distances = z_scores(np.asarray(scores, dtype=float)[displayed_rankings])
    outliers = np.where(np.abs(distances) > threshold, distances, 0.0)
    return float(policy.weights @ outliers.sum(axis=1))


def outlierness_released(
    policy: Policy,
    scores: npt.ArrayLike,
    *,
    displayed: int | None = None,
    threshold: float = THRESHOLD,
) -> float:
    """Mean distance of outliers over ranks and a policy, as in the authors' code.

    Parameters are those of :func:`holds_outlier`.

    Notes
    -----
    Source: the code to which heuss2025 refers. The absolute distances are treated as scores, and
    outliers among these are determined. Their distances are averaged over the displayed ranks, with
    0 for other items.

    Examples
    --------
    >>> policy = Policy(np.arange(10)[None], np.ones(1))
    >>> round(outlierness_released(policy, [0.0] * 9 + [1.0]), 3)
    0.3
    """
    displayed_rankings = policy.rankings[:, :displayed]
    distances = z_scores(np.abs(z_scores(np.asarray(scores, dtype=float)[displayed_rankings])))
    outliers = np.where(np.abs(distances) > threshold, distances, 0.0)
    return float(policy.weights @ outliers.mean(axis=1))


def _checked_relevance(relevance: npt.ArrayLike) -> FloatArray:
    values = np.asarray(relevance, dtype=float)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            "The relevance of an item is negative or not finite: give numbers of 0 or more."
        )
    if not (values > 0).any():
        raise ValueError(
            f"None of the {values.size} items is relevant: leave the list out, since the fair "
            "exposure of its items is undefined."
        )
    return values
