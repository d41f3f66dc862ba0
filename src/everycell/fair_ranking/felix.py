"""FELIX, policies with fair exposure that rarely show outliers, and the decomposition behind it.

:func:`decompose` is the Birkhoff-von Neumann decomposition of n x k matrices: the n - k items that
are not shown are matched with an additional column, and rankings are subtracted from the matrix,
each weighted by the smallest probability among its entries, until the matrix is 0. The *matching
rule* selects the next ranking, and thus which items are shown together:

- ``"row_first"``: item by item, each at the first free rank, or otherwise along the shortest chain
  of items that can move;
- ``"column_first"``: rank by rank, each with the first free item;
- ``"assignment"``: the ranking with the largest sum of probabilities.

:func:`resample` decomposes a matrix, keeps the rankings that need not be avoided, and decomposes
the mean of the others again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.errors import DataError, require
from everycell.fair_ranking.fair_exposure import (
    check_ranks,
    fair_exposure,
    logarithmic_rank_weights,
)
from everycell.fair_ranking.marginals import entropy_marginals
from everycell.fair_ranking.matchings import compile_if_possible, split_by_columns, split_by_rows
from everycell.fair_ranking.policies import Policy, holds_outlier

Matching = Literal["row_first", "column_first", "assignment"]
#: Function of rankings, shape (m, k), that returns whether to avoid each, shape (m,).
AvoidanceTest = Callable[[IntArray], BoolArray]

#: Probability below which an entry is rounding error.
TINY = 1e-13
#: Largest share of the probability that may remain at the end because of rounding.
MAX_REMAINDER = 1e-7


class ResampledPolicy(NamedTuple):
    """A policy from :func:`resample`, and its probability of unwanted rankings."""

    policy: Policy
    #: Probability of unwanted rankings after each iteration, shape (iterations,)
    avoided: FloatArray


def decompose(
    marginals: npt.ArrayLike,
    *,
    matching: Matching = "row_first",
    rng: np.random.Generator | None = None,
) -> Policy:
    """Decompose a matrix of probabilities into a weighted mean of rankings.

    Parameters
    ----------
    marginals : array_like of float, shape (n, k)
        Probability of each item at each rank, k <= n: columns sum to 1, rows to at most 1.
    matching : {"row_first", "column_first", "assignment"}
        Rule that selects the next ranking.
    rng : numpy.random.Generator, optional
        Shuffles the items before the decomposition, since the rules prefer earlier items. By
        default, the order of the rows is used.

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
    Source: heuss2025, Algorithm 1. The matrices form a polytope of (n - 1) k dimensions, and each
    step reduces the dimension by at least one, hence the bound.

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
    is_avoided: AvoidanceTest,
    *,
    iterations: int = 20,
    matching: Matching = "row_first",
    rng: np.random.Generator | None = None,
) -> ResampledPolicy:
    """Decompose a matrix into rankings, avoiding unwanted rankings as far as possible.

    Parameters
    ----------
    marginals, matching, rng
        As for :func:`decompose`. Without ``rng``, the items keep their order, and more iterations
        have little effect.
    is_avoided : callable
        Function of rankings, shape (m, k), that returns for each whether to avoid it, such as the
        result of :func:`.holds_outlier`.
    iterations : int
        Number of decompositions, 1 or more; with 1, no ranking is avoided.

    Returns
    -------
    ResampledPolicy
        A policy with the marginals of the matrix, and the probability of unwanted rankings after
        each iteration.

    Raises
    ------
    ValueError
        As for :func:`decompose`, and for fewer than 1 iteration.

    Notes
    -----
    Source: heuss2025, Algorithm 2. Rows are shuffled before each decomposition; the authors' code
    does not shuffle them before the first one.

    Examples
    --------
    Ten of twenty items are shown, and rankings with only one of the first two are to be avoided:

    >>> marginals = np.full((20, 10), 0.05)
    >>> has_one = lambda rankings: (rankings < 2).sum(axis=1) == 1
    >>> result = resample(marginals, has_one, rng=np.random.default_rng(1))
    >>> bool(result.avoided[-1] < result.avoided[0])
    True
    >>> bool(np.allclose(result.policy.marginals(20), marginals))
    True
    """
    matrix = checked_marginals(marginals)
    require(iterations >= 1, "iterations", iterations, "1 or more")
    items, ranks = matrix.shape
    policies, avoided = [], np.zeros(iterations)
    total = 1.0
    for iteration in range(iterations):
        policy = _decompose(matrix, total, matching, rng)
        to_avoid = is_avoided(policy.rankings)
        remainder = Policy(policy.rankings[to_avoid], policy.weights[to_avoid])
        avoided[iteration:] = total = float(remainder.weights.sum())
        if iteration == iterations - 1 or total <= TINY:
            policies.append(policy)
            break
        policies.append(Policy(policy.rankings[~to_avoid], policy.weights[~to_avoid]))
        matrix = remainder.marginals(items)
    weights = np.concatenate([policy.weights for policy in policies])
    return ResampledPolicy(
        Policy(np.concatenate([policy.rankings for policy in policies]), weights / weights.sum()),
        avoided,
    )


def checked_marginals(marginals: npt.ArrayLike) -> FloatArray:
    """Check a matrix of probabilities (item, rank); set tiny negative entries to 0."""
    matrix = np.array(marginals, dtype=float)
    is_matrix = matrix.ndim == 2 and 0 not in matrix.shape
    require(is_matrix, "shape of the matrix", matrix.shape, "one row per item, one column per rank")
    items, ranks = matrix.shape
    check_ranks(items, ranks)
    for item, rank in np.argwhere(~(np.isfinite(matrix) & (matrix >= -1e-8))):
        where, value = f"item {item}, rank {rank + 1}", float(matrix[item, rank])
        raise DataError(None, where, "probability", value, expected="a number from 0 to 1")
    columns, rows = matrix.sum(axis=0), matrix.sum(axis=1)
    if (errors := np.abs(columns - 1)).max() > 1e-6:
        rank = int(errors.argmax())
        where, value = f"rank {rank + 1}", float(columns[rank])
        raise DataError(None, where, "sum of probabilities", value, expected="1, for one item")
    if rows.max() > 1 + 1e-6:
        where, value = f"item {rows.argmax()}", float(rows.max())
        raise DataError(None, where, "sum of probabilities", value, expected="at most 1")
    return np.maximum(matrix, 0.0)


def _decompose(
    matrix: FloatArray, total: float, matching: Matching, rng: np.random.Generator | None
) -> Policy:
    """Decompose a matrix whose columns sum to a total into rankings with the same total weight."""
    items, ranks = matrix.shape
    hidden = items - ranks
    order = np.arange(items) if rng is None else rng.permutation(items)
    if hidden:
        not_shown = np.maximum(total - matrix.sum(axis=1), 0.0)
        residual = np.column_stack([matrix, not_shown])[order]
    else:
        residual = matrix[order]
    if matching == "assignment":
        rankings, weights, remainder = _split_by_assignment(residual, total, ranks)
    elif matching in ("row_first", "column_first"):
        split = compile_if_possible(split_by_rows if matching == "row_first" else split_by_columns)
        rankings, weights, remainder = split(
            np.ascontiguousarray(residual), total, ranks, TINY * total
        )
    else:
        choices = "'row_first', 'column_first' or 'assignment'"
        raise DataError(column="matching", value=matching, expected=choices)
    if remainder > MAX_REMAINDER * total or not len(weights):
        raise ArithmeticError(
            f"A share of {remainder / total:.1g} of the probabilities could not be decomposed: the "
            "matrix is not precise enough; its sums must be correct to about 1e-8."
        )
    # The remainder, which is due to rounding, is distributed over all rankings.
    return Policy(order[rankings], weights * (total / weights.sum()))


def _split_by_assignment(
    residual: FloatArray, total: float, ranks: int
) -> tuple[IntArray, FloatArray, float]:
    """Subtract the ranking with the largest sum of probabilities until the matrix is 0."""
    items = len(residual)
    column_of = np.minimum(np.arange(items), ranks)
    rankings, weights = [], []
    tiny = TINY * total
    remainder = total
    while remainder > tiny:
        # A forbidden entry costs more than all allowed entries together.
        gains = np.where(residual > tiny, residual, -2.0 * items)[:, column_of]
        rows, slots = linear_sum_assignment(gains, maximize=True)
        columns = column_of[slots]
        size = residual[rows, columns].min()
        if size <= tiny:
            break
        residual[rows, columns] -= size
        remainder -= size
        ranking = np.empty(ranks, dtype=np.int64)
        is_shown = columns < ranks if residual.shape[1] > ranks else np.ones(items, dtype=bool)
        ranking[columns[is_shown]] = rows[is_shown]
        rankings.append(ranking)
        weights.append(size)
    return np.array(rankings).reshape(-1, ranks), np.array(weights), remainder


def felix(
    merits: npt.ArrayLike,
    feature: npt.ArrayLike,
    ranks: int = 10,
    *,
    iterations: int = 20,
    rng: np.random.Generator | None = None,
) -> Policy:
    """Policy with fair exposure that rarely shows an outlier (FELIX).

    Parameters
    ----------
    merits : array_like of float, shape (n,)
        Merit of each item, such as its probability of relevance; above 0.
    feature : array_like of float, shape (n,)
        Displayed value of each item, such as its number of citations. An item whose value is more
        than 2.5 standard deviations from the mean of the ranking is an outlier.
    ranks : int
        Length of the rankings; a shorter list is shown in full.
    iterations : int
        Number of decompositions, 1 or more; with 1, outliers are not avoided.
    rng : numpy.random.Generator, optional
        Shuffles the items before each decomposition; seeded with 0 by default.

    Returns
    -------
    Policy
        Rankings and their probabilities. The expected exposure of each item is that of
        :func:`.fair_exposure` for the rank weights 1 / log2(1 + rank): proportional to merit where
        possible.

    Raises
    ------
    ValueError
        For a merit that is not above 0, lists of different lengths, or fewer than 1 iteration.

    Notes
    -----
    Source: heuss2025, equations 2.5 to 2.8 and Algorithms 1 and 2. Among the matrices with these
    exposures, the function uses the maximum-entropy one. Among seven or fewer displayed items, none
    can be an outlier. For other weights, matrices or tests, use :func:`.resample`.

    Examples
    --------
    Two of twenty items of equal merit have many citations. If only one of them is shown, it is an
    outlier; if both are shown, neither is, so FELIX shows them together:

    >>> from everycell.fair_ranking.policies import outlier_probability
    >>> citations = [900, 800] + [1] * 18
    >>> policies = [felix([1.0] * 20, citations, iterations=number) for number in (1, 20)]
    >>> [round(outlier_probability(policy, citations), 3) for policy in policies]
    [0.4, 0.0]
    """
    values, displayed_values = np.asarray(merits, dtype=float), np.asarray(feature, dtype=float)
    sizes = values.shape, displayed_values.shape
    require(sizes[0] == sizes[1], "shapes of merits and feature", sizes, "one of each per item")
    weights = logarithmic_rank_weights(min(ranks, len(values)))
    matrix = entropy_marginals(fair_exposure(values, weights), weights)
    rng = np.random.default_rng(0) if rng is None else rng
    return resample(matrix, holds_outlier(displayed_values), iterations=iterations, rng=rng).policy
