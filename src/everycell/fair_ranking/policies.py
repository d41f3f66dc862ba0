"""Policies, which are rankings with probabilities, and methods that need no decomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from everycell.base.arrays import FloatArray, IntArray
from everycell.fair_ranking.exposure import checked_merits, checked_rank_weights


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
    _check_ranks(len(scores), ranks)
    return Policy(np.argsort(-scores, kind="stable")[None, :ranks], np.ones(1))


def plackett_luce(
    weights: npt.ArrayLike, ranks: int, *, samples: int = 1000, rng: np.random.Generator
) -> Policy:
    """Policy of rankings sampled from the Plackett-Luce distribution.

    Sorting by log(weight) plus Gumbel noise samples from it. Items of weight 0 come after all
    others, in random order. Identical rankings are not merged.
    """
    values = np.asarray(weights, dtype=float)
    _check_ranks(len(values), ranks)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("A weight is negative or not finite: give numbers of 0 or more.")
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
    _check_ranks(n, k)
    costs = np.asarray(outliers, dtype=float)
    if len(costs) != n:
        raise ValueError(f"There are {len(costs)} outlier scores for {n} items: give one per item.")
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


def _check_ranks(items: int, ranks: int) -> None:
    if not 0 < ranks <= items:
        raise ValueError(
            f"There are {ranks} ranks for {items} items: give at least 1 rank and at most {items}."
        )
