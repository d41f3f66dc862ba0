"""Policies, which are rankings with probabilities, and their measures: fairness, utility, outliers.

A displayed item is an *outlier* if its score is more than 2.5 population standard deviations from
the mean of the displayed items. Among n items, the largest possible distance is sqrt(n - 1), so
none of seven or fewer items can be an outlier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.errors import DataError, require
from everycell.fair_ranking.fair_exposure import (
    check_numbers,
    check_ranks,
    checked_merits,
    checked_rank_weights,
)


class Policy(NamedTuple):
    """Rankings of the items of one list, and the probability of each."""

    rankings: IntArray  #: shape (m, k): the item at each rank, from 0
    weights: FloatArray  #: shape (m,): 0 or more, with sum 1

    def marginals(self, items: int) -> FloatArray:
        """Probability of each item at each rank, shape (items, k)."""
        ranks = self.rankings.shape[1]
        entries = (self.rankings * ranks + np.arange(ranks)).ravel()
        weights = np.repeat(self.weights, ranks)
        sums = np.bincount(entries, weights, items * ranks).reshape(items, ranks)
        # pyrefly: ignore[bad-return]  numpy's stub has integers for weights of any type
        return sums

    def exposures(self, items: int, rank_weights: npt.ArrayLike) -> FloatArray:
        """Mean weight of the ranks of each item, shape (items,)."""
        return self.marginals(items) @ np.asarray(rank_weights, dtype=float)


def deterministic(scores: npt.ArrayLike, ranks: int) -> Policy:
    """The ranking by decreasing score as a policy; ties favour earlier items."""
    scores = np.asarray(scores, dtype=float)
    check_ranks(len(scores), ranks)
    return Policy(np.argsort(-scores, kind="stable")[None, :ranks], np.ones(1))


def plackett_luce(
    weights: npt.ArrayLike, ranks: int, *, samples: int = 1000, rng: np.random.Generator
) -> Policy:
    """Policy of rankings sampled from the Plackett-Luce distribution.

    Sorting by log(weight) plus Gumbel noise samples from it. Items of weight 0 come after all
    others, in random order. Identical rankings are not merged.
    """
    values = np.asarray(weights, dtype=float)
    check_ranks(len(values), ranks)
    check_numbers("weight", values)
    noise = rng.gumbel(size=(samples, len(values)))
    with np.errstate(divide="ignore"):
        keys = np.log(values) + noise
    # Items of weight 0 are ordered by their noise, the last sort key.
    order = np.lexsort((-noise, -keys), axis=1)
    return Policy(order[:, :ranks], np.full(samples, 1 / samples))


def uniform(items: int, ranks: int, *, samples: int = 1000, rng: np.random.Generator) -> Policy:
    """Policy of rankings sampled uniformly."""
    return plackett_luce(np.ones(items), ranks, samples=samples, rng=rng)


def omit(
    merits: npt.ArrayLike,
    rank_weights: npt.ArrayLike,
    outliers: npt.ArrayLike,
    *,
    outlier_ranks: int = 10,
) -> FloatArray:
    """Fair probabilities (item, rank) that keep outliers out of the top ranks (OMIT).

    Source: heuss2025, sections 2.3 and 2.5, and the code of Sarvi et al. The matrix P maximises
    the sum of P_ij (u_i v_j - o_i h_j), where o is the signed distance of an outlier from the mean
    (`list_outliers`) and h is 1 at the top ranks. No item may have less exposure per merit than an
    item of higher merit. If no item is an outlier, the solution is one of several optimal matrices.
    """
    merits, weights = checked_merits(merits), checked_rank_weights(rank_weights)
    n, k = len(merits), len(weights)
    check_ranks(n, k)
    costs = np.asarray(outliers, dtype=float)
    require(len(costs) == n, "number of outlier scores", len(costs), f"{n}, one per item")
    gains = np.outer(merits, weights)
    gains[:, :outlier_ranks] -= costs[:, None]
    column_sums = sparse.kron(np.ones((1, n)), sparse.identity(k), format="csr")
    row_sums = sparse.kron(sparse.identity(n), np.ones((1, k)), format="csr")
    exposure = sparse.kron(sparse.identity(n), weights[None, :], format="csr")
    order = np.argsort(-merits, kind="stable")
    higher, lower = order[:-1], order[1:]
    disparity = sparse.diags(merits[lower]) @ exposure[higher]
    disparity = disparity - sparse.diags(merits[higher]) @ exposure[lower]
    solution = linprog(
        -gains.ravel(),
        A_ub=sparse.vstack([disparity, row_sums]),
        b_ub=np.concatenate([np.zeros(n - 1), np.ones(n)]),
        A_eq=column_sums,
        b_eq=np.ones(k),
        bounds=(0, None),
        method="highs",
        # With the solver's default, entries can be as low as -1e-7.
        options={"primal_feasibility_tolerance": 1e-10},
    )
    if not solution.success:
        raise ArithmeticError(f"HiGHS found no solution for OMIT: {solution.message}")
    return np.maximum(solution.x, 0.0).reshape(n, k)


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
    is_paired, expected = values.shape == grades.shape, f"{grades.size}, one per item"
    require(is_paired, "number of exposures", values.size, expected)
    for value in values[~np.isfinite(values)]:
        raise DataError(column="exposure", value=float(value), expected="a finite number")
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
    depth = policy.rankings.shape[1]
    require(1 <= ranks <= depth, "cutoff", cutoff, f"a rank of the rankings, from 1 to {depth}")
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
    for value in scores[~np.isfinite(scores)]:
        raise DataError(column="score", value=float(value), expected="a finite number")
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
    check_numbers("relevance", values)
    if not (values > 0).any():
        fault = f"of {values.size} items has no relevant item"
        raise DataError(column="list", fault=fault, fix="leave the list out")
    return values
