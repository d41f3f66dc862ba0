"""Smallest possible probability of unwanted rankings, for chapter 2 of heuss2025.

It is a reference for :func:`.felix`.

Three linear programs:

- :func:`lowest_probability` keeps a given matrix of probabilities, as FELIX does. It has variables
  for each set of k items that may be shown, each item and each rank, so it suits only small lists.
- :func:`pool_rankings` keeps the matrix too, on lists of any length: it reweights the rankings of
  several runs of FELIX. Its value is an upper bound.
- :func:`generate_rankings` keeps only the exposures. It has a variable for each ranking, and
  generates the rankings that it needs (column generation): from all sets of k items if there are
  few, which gives the optimum, and otherwise by exchanging items, which gives an upper bound.

In the first and third, whether a ranking is avoided must depend only on the set of its items, not
on their order.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import require
from everycell.fair_ranking.fair_exposure import checked_rank_weights
from everycell.fair_ranking.felix import AvoidanceTest, checked_marginals, resample
from everycell.fair_ranking.policies import Policy

#: Largest number of sets of items that are all examined.
MAX_SETS = 20_000
#: Largest number of rankings that a round adds.
MAX_NEW_RANKINGS = 30
#: Gains up to this number are not an improvement.
MIN_GAIN = 1e-9


class Optimum(NamedTuple):
    """Result of column generation."""

    policy: Policy
    avoided: float  #: probability of unwanted rankings
    rounds: int  #: number of linear programs solved
    exact: bool  #: whether the policy is proven optimal


def lowest_probability(marginals: npt.ArrayLike, is_avoided: AvoidanceTest) -> float:
    """Smallest probability of unwanted rankings of all policies with given marginals.

    The order within a ranking must not matter to `is_avoided`, and there may be at most 1000 sets.
    """
    matrix = checked_marginals(marginals)
    n, k = matrix.shape
    number, limit = comb(n, k), "at most 1000; use generate_rankings"
    require(number <= 1000, f"number of sets of {k} of {n} items", number, limit)
    sets = _sets(n, k)
    sets = sets[~is_avoided(sets)]
    if not len(sets):
        return 1.0
    count, size = len(sets), k * k
    # Variables: for each set, the probability of each (item, rank) in it, and that of the set.
    entries = count * size
    item = np.repeat(sets, k, axis=1).ravel()
    rank = np.tile(np.arange(k), count * k)
    set_index = np.repeat(np.arange(count), size)
    position = np.tile(np.repeat(np.arange(k), k), count)
    column = np.arange(entries)
    ones = np.ones(entries)

    def rows(index: IntArray, number: int) -> sparse.csr_matrix:
        return sparse.csr_matrix((ones, (index, column)), shape=(number, entries))

    total = sparse.kron(sparse.identity(count), np.ones((k, 1)))
    equalities = sparse.bmat(
        [
            [rows(set_index * k + position, count * k), -total],
            [rows(set_index * k + rank, count * k), -total],
        ]
    )
    # The remainder must be a policy too: no negative entry, and no item twice in a ranking.
    occurrences = rows(item, n)
    remainder = sparse.bmat(
        [
            [rows(item * k + rank, n * k), sparse.csr_matrix((n * k, count))],
            [-occurrences, np.ones((n, count))],
        ]
    )
    solution = linprog(
        np.concatenate([np.zeros(entries), -np.ones(count)]),
        A_ub=remainder,
        b_ub=np.concatenate([matrix.ravel(), 1 - matrix.sum(axis=1)]),
        A_eq=equalities,
        b_eq=np.zeros(2 * count * k),
        method="highs-ipm",
    )
    if not solution.success:
        raise ArithmeticError(f"HiGHS found no bound: {solution.message}")
    return float(max(1 + solution.fun, 0.0))


def pool_rankings(
    marginals: npt.ArrayLike,
    is_avoided: AvoidanceTest,
    *,
    runs: int = 5,
    iterations: int = 20,
    rng: np.random.Generator,
) -> Policy:
    """Policy with given marginals that reweights the rankings of several FELIX runs.

    Its probability of unwanted rankings is at most that of the best run, and it has at most n k + 1
    rankings. The order within a ranking may matter to `is_avoided`.
    """
    matrix = checked_marginals(marginals)
    n, k = matrix.shape
    policies = [
        resample(matrix, is_avoided, iterations=iterations, rng=rng).policy for _ in range(runs)
    ]
    rankings = np.unique(np.concatenate([policy.rankings for policy in policies]), axis=0)
    entries_of_items = (rankings * k + np.arange(k)).ravel()
    columns = np.repeat(np.arange(len(rankings)), k)
    entries = sparse.csr_matrix(
        (np.ones(len(entries_of_items)), (entries_of_items, columns)), shape=(n * k, len(rankings))
    )
    # The weights of a run are a solution up to rounding, so slack is possible at a high cost.
    slack = sparse.identity(n * k)
    solution = linprog(
        np.concatenate([is_avoided(rankings), np.full(2 * n * k, 10.0)]),
        A_eq=sparse.hstack([entries, slack, -slack]),
        b_eq=policies[0].marginals(n).ravel(),
        method="highs-ds",
    )
    if not solution.success:
        raise ArithmeticError(f"HiGHS found no weights for the pooled rankings: {solution.message}")
    weights = np.maximum(solution.x[: len(rankings)], 0)
    is_used = weights > 0
    return Policy(rankings[is_used], weights[is_used] / weights.sum())


def generate_rankings(
    exposures: npt.ArrayLike,
    rank_weights: npt.ArrayLike,
    is_avoided: AvoidanceTest,
    start: Policy,
    *,
    rounds: int = 500,
) -> Optimum:
    """Policy with given exposures and the smallest probability of unwanted rankings.

    `start` is a policy with these exposures. The result has at most n + 1 rankings.
    """
    required_exposures = np.asarray(exposures, dtype=float)
    weights = checked_rank_weights(rank_weights)
    n, k = len(required_exposures), len(weights)
    all_sets = None
    if comb(n, k) <= MAX_SETS:
        all_sets = _sets(n, k)
        all_sets = all_sets[~is_avoided(all_sets)]
    rankings = np.unique(start.rankings, axis=0)
    costs = is_avoided(rankings).astype(float)
    right_side = np.append(required_exposures, 1.0)
    solved, new_rankings = 0, rankings
    while True:
        solved += 1
        columns = np.zeros((n + 1, len(rankings)))
        columns[rankings.T, np.arange(len(rankings))] = weights[:, None]
        columns[n] = 1
        # Rounded exposures may not be exactly reachable, so slack is possible at a high cost.
        slack = np.hstack([np.eye(n + 1), -np.eye(n + 1)])
        solution = linprog(
            np.concatenate([costs, np.full(2 * n + 2, 1e3)]),
            A_eq=sparse.csr_matrix(np.hstack([columns, slack])),
            b_eq=right_side,
            method="highs",
        )
        if not solution.success:
            raise ArithmeticError(f"HiGHS found no policy: {solution.message}")
        prices = solution.eqlin.marginals
        share = np.maximum(solution.x[: len(rankings)], 0)
        value = float(share @ costs)
        if value <= MIN_GAIN:
            new_rankings = rankings[:0]
        elif all_sets is not None:
            new_rankings = _best_rankings(all_sets, prices, weights)
        else:
            sets = _exchange_items(prices[:n], weights, is_avoided)
            new_rankings = _best_rankings(sets, prices, weights)
        # An unwanted ranking can be added too, at its cost.
        top = np.argsort(-prices[:n], kind="stable")[None, :k]
        if value > MIN_GAIN and prices[top[0]] @ weights + prices[n] > 1 + MIN_GAIN:
            new_rankings = np.concatenate([new_rankings, top])
        rankings = np.concatenate([rankings, new_rankings])
        costs = np.append(costs, is_avoided(new_rankings).astype(float))
        if solved >= rounds or not len(new_rankings):
            break
    is_used = share > 0
    exact = value <= MIN_GAIN or (all_sets is not None and not len(new_rankings))
    policy = Policy(rankings[is_used], share[is_used] / share.sum())
    return Optimum(policy, value if value > MIN_GAIN else 0.0, solved, bool(exact))


def _sets(items: int, size: int) -> IntArray:
    """All sets of a given number of items, one per row."""
    return np.array(list(combinations(range(items), size)), dtype=np.int64)


def _best_rankings(sets: IntArray, prices: FloatArray, weights: FloatArray) -> IntArray:
    """Rankings that reduce the cost most, one per set, with the most expensive items first."""
    values = prices[sets]
    order = np.argsort(-values, axis=1, kind="stable")
    gains = np.take_along_axis(values, order, axis=1) @ weights + prices[-1]
    order_of_sets = np.argsort(-gains, kind="stable")[:MAX_NEW_RANKINGS]
    order_of_sets = order_of_sets[gains[order_of_sets] > MIN_GAIN]
    return np.take_along_axis(sets[order_of_sets], order[order_of_sets], axis=1)


def _exchange_items(prices: FloatArray, weights: FloatArray, is_avoided: AvoidanceTest) -> IntArray:
    """Local search for sets of items with large gains that need not be avoided."""
    size = len(weights)
    order = np.argsort(-prices, kind="stable")
    candidates = []

    def gains(sets: IntArray) -> FloatArray:
        return -np.sort(-prices[sets], axis=1) @ weights

    # Start from the most expensive items and from the cheapest: an outlier among the former may not
    # be an outlier among the latter.
    for current in (order[:size], order[-size:]):
        best = -np.inf
        for _ in range(3 * size):
            outside_items = np.setdiff1d(order, current, assume_unique=True)
            neighbours = np.repeat(current[None], size * len(outside_items), axis=0)
            exchanged_positions = np.repeat(np.arange(size), len(outside_items))
            neighbours[np.arange(len(neighbours)), exchanged_positions] = np.tile(
                outside_items, size
            )
            neighbours = np.concatenate([current[None], neighbours])
            allowed_sets = neighbours[~is_avoided(neighbours)]
            if not len(allowed_sets):
                # Continue with the neighbour with the largest gain, although it is not allowed.
                current = neighbours[1 + int(gains(neighbours[1:]).argmax())]
                continue
            values = gains(allowed_sets)
            best_first = np.argsort(-values, kind="stable")
            candidates.append(allowed_sets[best_first[: 4 * MAX_NEW_RANKINGS]])
            if values.max() <= best + 1e-12:
                break
            best, current = values.max(), allowed_sets[int(values.argmax())]
    if not candidates:
        return np.empty((0, size), dtype=np.int64)
    return np.unique(np.sort(np.concatenate(candidates), axis=1), axis=0)
