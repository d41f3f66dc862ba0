"""From probabilities (item, rank) to a policy: rankings with these probabilities as their mean.

:func:`decompose` is the Birkhoff-von Neumann decomposition of n x k matrices: items that are not
shown are matched with a further column that holds n - k of them, and rankings are split off, each
with the smallest probability among its entries, until nothing is left. Many rankings can be split
off; the *matching rule* decides which, and so which items are shown together:

- ``"row_first"``: item by item, each at the first free rank, or else along the shortest chain of
  items that can move;
- ``"column_first"``: rank by rank, each with the first free item;
- ``"assignment"``: the ranking with the largest sum of probabilities.

:func:`resample` decomposes, keeps the rankings that may be shown, and decomposes the rest again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from everycell.engine.arrays import BoolArray, FloatArray, IntArray
from everycell.fair_ranking.matchings import (
    compiled_if_possible,
    split_by_columns,
    split_by_rows,
)
from everycell.fair_ranking.policies import Policy

Matching = Literal["row_first", "column_first", "assignment"]
#: From rankings, shape (m, k), to whether each is to be avoided, shape (m,).
Avoided = Callable[[IntArray], BoolArray]

#: Probability below which an entry is rounding.
TINY = 1e-13
#: Probability that may be left at the end, because sums are rounded.
LEFT = 1e-7


class Resampled(NamedTuple):
    """Result of re-sampling."""

    policy: Policy
    #: Probability of rankings to be avoided after each iteration, shape (iterations,)
    avoided: FloatArray


def decompose(
    marginals: npt.ArrayLike,
    *,
    matching: Matching = "row_first",
    rng: np.random.Generator | None = None,
) -> Policy:
    """Decompose a matrix of probabilities into rankings whose weighted mean it is.

    Parameters
    ----------
    marginals : array_like of float, shape (n, k)
        Probability of each item at each rank, k <= n: columns sum to 1, rows to at most 1.
    matching : {"row_first", "column_first", "assignment"}
        Rule by which the next ranking is chosen.
    rng : numpy.random.Generator, optional
        Shuffles the items first, since rules prefer items that come first. If left out, the order
        of the rows is used.

    Returns
    -------
    Policy
        At most (n - 1) k + 1 rankings.

    Raises
    ------
    ValueError
        For a matrix with negative entries, wrong sums, or fewer rows than columns.

    Notes
    -----
    Source: heuss2025, Algorithm 1. A step leaves at least one side of a polytope of (n - 1) k
    dimensions, hence the number.

    Examples
    --------
    >>> policy = decompose([[0.5, 0.25], [0.5, 0.25], [0.0, 0.5]])
    >>> policy.rankings.tolist(), policy.weights.tolist()
    ([[0, 1], [0, 2], [1, 0], [1, 2]], [0.25, 0.25, 0.25, 0.25])
    """
    matrix = checked_marginals(marginals)
    return _decompose(matrix, 1.0, matching, rng)


def resample(
    marginals: npt.ArrayLike,
    avoided: Avoided,
    *,
    iterations: int = 20,
    matching: Matching = "row_first",
    rng: np.random.Generator | None = None,
) -> Resampled:
    """Decompose a matrix into rankings of which few are to be avoided.

    Parameters
    ----------
    marginals, matching, rng
        As for :func:`decompose`. Without ``rng`` the items keep their order, and a further
        iteration has little to offer.
    avoided : callable
        Takes rankings of shape (m, k) and returns m truth values, such as
        :func:`.holds_outlier` with the scores of the list.
    iterations : int
        Number of decompositions, 1 or more; with 1, nothing is avoided.

    Returns
    -------
    Resampled
        The policy, with the marginals of the matrix, and the probability of rankings to be avoided
        after each iteration.

    Raises
    ------
    ValueError
        As for :func:`decompose`, and for fewer than 1 iteration.

    Notes
    -----
    Source: heuss2025, Algorithm 2. Rows are shuffled before each decomposition; the code of its
    authors keeps their order in the first.

    Examples
    --------
    Ten of twenty items are shown, and the first two are never to be shown alone:

    >>> even = np.full((20, 10), 0.05)
    >>> alone = lambda rankings: (rankings < 2).sum(axis=1) == 1
    >>> result = resample(even, alone, rng=np.random.default_rng(1))
    >>> bool(result.avoided[-1] < result.avoided[0])
    True
    >>> bool(np.allclose(result.policy.marginals(20), even))
    True
    """
    matrix = checked_marginals(marginals)
    if iterations < 1:
        raise ValueError(f"There are {iterations} iterations: there must be 1 or more.")
    items, ranks = matrix.shape
    policies, left = [], np.zeros(iterations)
    total = 1.0
    for iteration in range(iterations):
        policy = _decompose(matrix, total, matching, rng)
        bad = avoided(policy.rankings)
        remainder = Policy(policy.rankings[bad], policy.weights[bad])
        left[iteration:] = total = float(remainder.weights.sum())
        if iteration == iterations - 1 or total <= TINY:
            policies.append(policy)
            break
        policies.append(Policy(policy.rankings[~bad], policy.weights[~bad]))
        matrix = remainder.marginals(items)
    weights = np.concatenate([policy.weights for policy in policies])
    return Resampled(
        Policy(np.concatenate([policy.rankings for policy in policies]), weights / weights.sum()),
        left,
    )


def checked_marginals(marginals: npt.ArrayLike) -> FloatArray:
    """Matrix of probabilities (item, rank), with tiny negative entries set to 0."""
    matrix = np.array(marginals, dtype=float)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"The matrix has the shape {matrix.shape}: give a row per item and a column per rank."
        )
    items, ranks = matrix.shape
    if ranks > items:
        raise ValueError(
            f"The matrix has {ranks} ranks for {items} items: leave out the ranks beyond {items}."
        )
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= -1e-8)))
    if len(wrong):
        item, rank = wrong[0]
        raise ValueError(
            f"The probability of item {item} at rank {rank + 1} is {matrix[item, rank]:g}: it must "
            "be between 0 and 1."
        )
    columns, rows = matrix.sum(axis=0), matrix.sum(axis=1)
    if (off := np.abs(columns - 1)).max() > 1e-6:
        rank = int(off.argmax())
        raise ValueError(
            f"The probabilities at rank {rank + 1} sum to {columns[rank]:.7g}: each rank shows one "
            "item, so they must sum to 1."
        )
    if rows.max() > 1 + 1e-6:
        item = int(rows.argmax())
        raise ValueError(
            f"The probabilities of item {item} sum to {rows[item]:.7g}: it is shown once at most, "
            "so they must not exceed 1."
        )
    return np.maximum(matrix, 0.0)


def _decompose(
    matrix: FloatArray, total: float, matching: Matching, rng: np.random.Generator | None
) -> Policy:
    """Decompose a matrix whose columns sum to a total; so do the weights."""
    items, ranks = matrix.shape
    hidden = items - ranks
    order = np.arange(items) if rng is None else rng.permutation(items)
    if hidden:
        last = np.maximum(total - matrix.sum(axis=1), 0.0)
        work = np.column_stack([matrix, last])[order]
    else:
        work = matrix[order]
    if matching == "assignment":
        rankings, weights, left = _split_by_assignment(work, total, ranks)
    elif matching in ("row_first", "column_first"):
        split = compiled_if_possible(split_by_rows if matching == "row_first" else split_by_columns)
        rankings, weights, left = split(np.ascontiguousarray(work), total, ranks, TINY * total)
    else:
        raise ValueError(
            f"There is no matching rule {matching!r}: take row_first, column_first or assignment."
        )
    if left > LEFT * total or not len(weights):
        raise ArithmeticError(
            f"A share of {left / total:.1g} of the probabilities could not be decomposed: the "
            "matrix is not precise enough; its sums must be right to about 1e-8."
        )
    # What rounding leaves over is spread over all rankings.
    return Policy(order[rankings], weights * (total / weights.sum()))


def _split_by_assignment(
    work: FloatArray, total: float, ranks: int
) -> tuple[IntArray, FloatArray, float]:
    """Split off the ranking of the largest sum of probabilities until nothing is left."""
    items = len(work)
    column_of = np.minimum(np.arange(items), ranks)
    rankings, weights = [], []
    tiny = TINY * total
    left = total
    while left > tiny:
        # Forbidden entries cost more than all allowed ones together.
        gains = np.where(work > tiny, work, -2.0 * items)[:, column_of]
        rows, slots = linear_sum_assignment(gains, maximize=True)
        columns = column_of[slots]
        size = work[rows, columns].min()
        if size <= tiny:
            break
        work[rows, columns] -= size
        left -= size
        ranking = np.empty(ranks, dtype=np.int64)
        is_shown = columns < ranks if work.shape[1] > ranks else np.ones(items, dtype=bool)
        ranking[columns[is_shown]] = rows[is_shown]
        rankings.append(ranking)
        weights.append(size)
    return np.array(rankings).reshape(-1, ranks), np.array(weights), left
