"""How rarely rankings to be avoided can be shown at all, as a bound for :func:`.felix`.

Two questions, answered by three linear programs:

- :func:`least_avoided` keeps a whole matrix of probabilities, as FELIX does. It has a variable for
  each set of k items that may be shown, each item and each rank, so it is for small lists only.
- :func:`pool_rankings` keeps the matrix too, on lists of any length: FELIX runs several times, and
  all rankings that it finds get new weights. Its value is an upper bound.
- :func:`generate_rankings` keeps only the exposures. It has a variable for each ranking; the ones
  needed are generated one by one (column generation), by examining all sets of k items if there are
  few, and by exchanging items if there are many. In the first case its value is the optimum, in the
  second an upper bound on it.

Whether a ranking is to be avoided must depend on the set of the items that it shows, not on their
order.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from everycell.engine.arrays import FloatArray, IntArray
from everycell.fair_ranking.decomposition import Avoided, checked_marginals, resample
from everycell.fair_ranking.exposure import checked_rank_weights
from everycell.fair_ranking.policies import Policy

#: Largest number of sets of items for which all are examined.
ALL_SETS = 20_000
#: Rankings that one round may add.
ADDED = 30
#: Gain below which a further ranking counts as no improvement.
GAIN = 1e-9


class Optimum(NamedTuple):
    """Result of column generation."""

    policy: Policy
    avoided: float  #: probability of rankings to be avoided
    rounds: int  #: linear programs solved
    exact: bool  #: whether nothing better exists; otherwise nothing better was found


def least_avoided(marginals: npt.ArrayLike, avoided: Avoided) -> float:
    """Smallest probability of avoided rankings over all policies with given marginals.

    Parameters
    ----------
    marginals : array_like of float, shape (n, k)
        As for :func:`.decompose`.
    avoided : callable
        Takes rankings of shape (m, k) and returns m truth values; the order within a ranking must
        not matter.

    Raises
    ------
    ValueError
        As for :func:`.decompose`, and if more than 1000 sets of k items may be shown.

    Examples
    --------
    Items 0 and 1 must not be shown together, but both are shown for certain:

    >>> together = lambda rankings: (rankings < 2).all(axis=1)
    >>> least_avoided([[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]], together)
    1.0
    >>> abs(round(least_avoided(np.full((4, 2), 0.25), together), 9))
    0.0
    """
    matrix = checked_marginals(marginals)
    n, k = matrix.shape
    if comb(n, k) > 1000:
        raise ValueError(
            f"There are {comb(n, k)} sets of {k} of {n} items: the program is made for 1000 at "
            "most; use generate_rankings."
        )
    sets = _sets(n, k)
    sets = sets[~avoided(sets)]
    if not len(sets):
        return 1.0
    count, size = len(sets), k * k
    # Variables: for each set the probability of (item, rank) in it, and that of the set.
    entries = count * size
    item = np.repeat(sets, k, axis=1).ravel()
    rank = np.tile(np.arange(k), count * k)
    of_set = np.repeat(np.arange(count), size)
    position = np.tile(np.repeat(np.arange(k), k), count)
    column = np.arange(entries)
    ones = np.ones(entries)

    def rows(index: IntArray, number: int) -> sparse.csr_matrix:
        return sparse.csr_matrix((ones, (index, column)), shape=(number, entries))

    total = sparse.kron(sparse.identity(count), np.ones((k, 1)))
    equal = sparse.bmat(
        [
            [rows(of_set * k + position, count * k), -total],
            [rows(of_set * k + rank, count * k), -total],
        ]
    )
    # The rest must be a policy too: no entry below 0, no item more often than the rest allows.
    occurrences = rows(item, n)
    left = sparse.bmat(
        [
            [rows(item * k + rank, n * k), sparse.csr_matrix((n * k, count))],
            [-occurrences, np.ones((n, count))],
        ]
    )
    solution = linprog(
        np.concatenate([np.zeros(entries), -np.ones(count)]),
        A_ub=left,
        b_ub=np.concatenate([matrix.ravel(), 1 - matrix.sum(axis=1)]),
        A_eq=equal,
        b_eq=np.zeros(2 * count * k),
        method="highs-ipm",
    )
    if not solution.success:
        raise ArithmeticError(f"HiGHS found no bound: {solution.message}")
    return float(max(1 + solution.fun, 0.0))


def pool_rankings(
    marginals: npt.ArrayLike,
    avoided: Avoided,
    *,
    runs: int = 5,
    iterations: int = 20,
    rng: np.random.Generator,
) -> Policy:
    """Policy with given marginals, made of the rankings that several runs of FELIX find.

    Parameters
    ----------
    marginals, avoided
        As for :func:`.resample`; here the order within a ranking may matter.
    runs, iterations
        Number of runs of FELIX, and of iterations in each. The linear program has a variable for
        each ranking.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Policy
        It shows rankings to be avoided no more often than the best of the runs; at most n k + 1
        rankings.

    Examples
    --------
    >>> together = lambda rankings: (rankings < 2).all(axis=1)
    >>> policy = pool_rankings(np.full((4, 2), 0.25), together, rng=np.random.default_rng(0))
    >>> float(policy.weights[together(policy.rankings)].sum())
    0.0
    """
    matrix = checked_marginals(marginals)
    n, k = matrix.shape
    policies = [
        resample(matrix, avoided, iterations=iterations, rng=rng).policy for _ in range(runs)
    ]
    rankings = np.unique(np.concatenate([policy.rankings for policy in policies]), axis=0)
    entries_of_items = (rankings * k + np.arange(k)).ravel()
    columns = np.repeat(np.arange(len(rankings)), k)
    entries = sparse.csr_matrix(
        (np.ones(len(entries_of_items)), (entries_of_items, columns)), shape=(n * k, len(rankings))
    )
    # The weights of a run are a solution up to rounding; slack is expensive.
    missing = sparse.identity(n * k)
    solved = linprog(
        np.concatenate([avoided(rankings), np.full(2 * n * k, 10.0)]),
        A_eq=sparse.hstack([entries, missing, -missing]),
        b_eq=policies[0].marginals(n).ravel(),
        method="highs-ds",
    )
    if not solved.success:
        raise ArithmeticError(f"HiGHS found no weights for the pooled rankings: {solved.message}")
    weights = np.maximum(solved.x[: len(rankings)], 0)
    used = weights > 0
    return Policy(rankings[used], weights[used] / weights.sum())


def generate_rankings(
    exposures: npt.ArrayLike,
    rank_weights: npt.ArrayLike,
    avoided: Avoided,
    start: Policy,
    *,
    rounds: int = 500,
) -> Optimum:
    """Policy with given exposures that shows rankings to be avoided as rarely as possible.

    Parameters
    ----------
    exposures : array_like of float, shape (n,)
        Exposures to keep.
    rank_weights : array_like of float, shape (k,)
        Weight of each rank.
    avoided : callable
        As for :func:`least_avoided`.
    start : Policy
        A policy with these exposures, such as one from :func:`.decompose`.
    rounds : int
        Largest number of linear programs to solve.

    Returns
    -------
    Optimum
        Its policy has at most n + 1 rankings of positive weight.

    Examples
    --------
    >>> together = lambda rankings: (rankings < 2).all(axis=1)
    >>> start = Policy(np.array([[0, 1], [2, 3]]), np.array([0.5, 0.5]))
    >>> result = generate_rankings([0.5, 0.5, 0.5, 0.5], [1.0, 1.0], together, start)
    >>> result.avoided, result.exact
    (0.0, True)
    """
    required, weights = np.asarray(exposures, dtype=float), checked_rank_weights(rank_weights)
    n, k = len(required), len(weights)
    known = None
    if comb(n, k) <= ALL_SETS:
        known = _sets(n, k)
        known = known[~avoided(known)]
    rankings = np.unique(start.rankings, axis=0)
    costs = avoided(rankings).astype(float)
    right = np.append(required, 1.0)
    number, new = 0, rankings
    while True:
        number += 1
        columns = np.zeros((n + 1, len(rankings)))
        columns[rankings.T, np.arange(len(rankings))] = weights[:, None]
        columns[n] = 1
        # Rounded exposures may be just out of reach; slack is expensive.
        slack = np.hstack([np.eye(n + 1), -np.eye(n + 1)])
        solution = linprog(
            np.concatenate([costs, np.full(2 * n + 2, 1e3)]),
            A_eq=sparse.csr_matrix(np.hstack([columns, slack])),
            b_eq=right,
            method="highs",
        )
        if not solution.success:
            raise ArithmeticError(f"HiGHS found no policy: {solution.message}")
        prices = solution.eqlin.marginals
        share = np.maximum(solution.x[: len(rankings)], 0)
        value = float(share @ costs)
        if value <= GAIN:
            new = rankings[:0]
        elif known is not None:
            new = _best(known, prices, weights)
        else:
            new = _best(_exchanged(prices[:n], weights, avoided), prices, weights)
        # A ranking to be avoided may be used too, at its cost.
        top = np.argsort(-prices[:n], kind="stable")[None, :k]
        if value > GAIN and prices[top[0]] @ weights + prices[n] > 1 + GAIN:
            new = np.concatenate([new, top])
        rankings = np.concatenate([rankings, new])
        costs = np.append(costs, avoided(new).astype(float))
        if number >= rounds or not len(new):
            break
    used = share > 0
    done = value <= GAIN or (known is not None and not len(new))
    policy = Policy(rankings[used], share[used] / share.sum())
    return Optimum(policy, value if value > GAIN else 0.0, number, bool(done))


def _sets(items: int, size: int) -> IntArray:
    """All sets of a given number of items, one per row."""
    return np.array(list(combinations(range(items), size)), dtype=np.int64)


def _best(sets: IntArray, prices: FloatArray, weights: FloatArray) -> IntArray:
    """Rankings of the sets that lower the cost most, the most expensive items first."""
    values = prices[sets]
    order = np.argsort(-values, axis=1, kind="stable")
    gains = np.take_along_axis(values, order, axis=1) @ weights + prices[-1]
    order_of_sets = np.argsort(-gains, kind="stable")[:ADDED]
    order_of_sets = order_of_sets[gains[order_of_sets] > GAIN]
    return np.take_along_axis(sets[order_of_sets], order[order_of_sets], axis=1)


def _exchanged(prices: FloatArray, weights: FloatArray, avoided: Avoided) -> IntArray:
    """Sets that may be shown, found from two good ones by exchanging one item at a time."""
    size = len(weights)
    order = np.argsort(-prices, kind="stable")
    candidates = []

    def gains(sets: IntArray) -> FloatArray:
        return -np.sort(-prices[sets], axis=1) @ weights

    # The most expensive items, and the cheapest: an outlier among the former may not be one among
    # the latter.
    for current in (order[:size], order[-size:]):
        best = -np.inf
        for _ in range(3 * size):
            outside = np.setdiff1d(order, current, assume_unique=True)
            near = np.repeat(current[None], size * len(outside), axis=0)
            near[np.arange(len(near)), np.repeat(np.arange(size), len(outside))] = np.tile(
                outside, size
            )
            near = np.concatenate([current[None], near])
            allowed = near[~avoided(near)]
            if not len(allowed):
                # Continue with a neighbour that loses little, as if it were allowed.
                current = near[1 + int(gains(near[1:]).argmax())]
                continue
            values = gains(allowed)
            candidates.append(allowed[np.argsort(-values, kind="stable")[: 4 * ADDED]])
            if values.max() <= best + 1e-12:
                break
            best, current = values.max(), allowed[int(values.argmax())]
    if not candidates:
        return np.empty((0, size), dtype=np.int64)
    return np.unique(np.sort(np.concatenate(candidates), axis=1), axis=0)
