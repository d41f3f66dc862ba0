"""Probabilities of items at ranks, from given exposures of the items.

Exposures do not determine the probability of an item at each rank. Among all matrices with the same
exposures, two have a natural definition and are 0 only where all such matrices are 0:

- :func:`entropy_marginals`: the maximum-entropy matrix, in which items that are not shown are
  distributed evenly over ranks without weight;
- :func:`centre_marginals`: the analytic centre, to which interior-point solvers converge: it
  maximises the product of all probabilities and of each item's probability of not being shown.

Both are computed by Newton's method, separately for each block (:func:`.exposure_blocks`). A step
solves for three kinds of multipliers: for each item's sum of probabilities, for its exposure, and
for each rank. The multipliers of items are eliminated, which leaves a k x k system.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray
from everycell.fair_ranking.fair_exposure import exposure_blocks

#: Largest error of a sum of probabilities or of an exposure on convergence.
PRECISION = 1e-11
#: Largest number of Newton steps; about ten are usually enough.
STEPS = 200


def entropy_marginals(exposures: npt.ArrayLike, rank_weights: npt.ArrayLike) -> FloatArray:
    """Maximum-entropy matrix with given exposures.

    Parameters
    ----------
    exposures : array_like of float, shape (n,)
        Exposures of some policy, such as those of :func:`.fair_exposure`.
    rank_weights : array_like of float, shape (k,)
        Weight of each rank, k <= n: not negative and not increasing.

    Returns
    -------
    numpy.ndarray of float64, shape (n, k)
        Probability of each item at each rank. Columns sum to 1, rows to at most 1; the product
        with the weights gives the exposures.

    Raises
    ------
    ValueError
        For exposures that no policy can have.

    Examples
    --------
    >>> entropy_marginals([1.0, 0.5, 0.5], [1.0, 0.6, 0.4]).round(6).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]
    """
    return _solve_blocks(exposures, rank_weights, _entropy_block)


def centre_marginals(exposures: npt.ArrayLike, rank_weights: npt.ArrayLike) -> FloatArray:
    """Analytic centre of all matrices (n, k) with given exposures."""
    return _solve_blocks(exposures, rank_weights, _centre_block)


def _solve_blocks(
    exposures: npt.ArrayLike,
    rank_weights: npt.ArrayLike,
    solve: Callable[[FloatArray, FloatArray, int], FloatArray],
) -> FloatArray:
    """Fill a matrix block by block."""
    sums, weights = np.asarray(exposures, dtype=float), np.asarray(rank_weights, dtype=float)
    matrix = np.zeros((len(sums), len(weights)))
    for block in exposure_blocks(sums, weights):
        ranks = weights[block.ranks]
        hidden = len(block.items) - len(ranks)
        matrix[block.items, block.ranks] = solve(sums[block.items], ranks, hidden)[:, : len(ranks)]
    return matrix


def _column_weights(exposures: FloatArray, weights: FloatArray, hidden: int) -> FloatArray | None:
    """Weights, with 0 for items that are not shown; None if all probabilities are equal."""
    if hidden:
        weights = np.append(weights, 0.0)
    return weights if np.ptp(weights) > 0 and len(exposures) > 1 else None


def _equal_probabilities(items: int, ranks: int, hidden: int) -> FloatArray:
    """Equal probabilities of all items at each rank; the last column is for not being shown."""
    probabilities = np.full((items, ranks + (hidden > 0)), 1 / items)
    if hidden:
        probabilities[:, -1] = hidden / items
    return probabilities


def _entropy_block(exposures: FloatArray, weights: FloatArray, hidden: int) -> FloatArray:
    """Maximum-entropy matrix of a block, whose rows form an exponential family.

    Minimises the dual, the sum over items of log sum_j m_j exp(b_j + l_i v_j) - l_i e_i, minus
    m . b, over a multiplier b_j of each rank and l_i of each item. m_j is 1 for ranks and
    ``hidden`` for the column of items that are not shown.
    """
    columns = _column_weights(exposures, weights, hidden)
    if columns is None:
        return _equal_probabilities(len(exposures), len(weights), hidden)
    copies = np.ones(len(columns))
    if hidden:
        copies[-1] = hidden
    matrix = _entropy_steps(exposures, columns, copies, exact_rows=False, steps=30)
    if _error(matrix, columns, copies, exposures) > PRECISION:
        # An item that is nearly always at one rank has a very large multiplier, which slows down
        # joint steps.
        matrix = _entropy_steps(exposures, columns, copies, exact_rows=True, steps=STEPS)
    error = _error(matrix, columns, copies, exposures)
    if error > 1e-8:
        raise ArithmeticError(
            f"After {STEPS} steps, the probabilities have an error of {error:.1g}: merits may "
            "differ too much; scale them to a larger minimum."
        )
    return matrix


def _entropy_steps(
    exposures: FloatArray, columns: FloatArray, copies: FloatArray, *, exact_rows: bool, steps: int
) -> FloatArray:
    """Newton steps on the dual in both kinds of multipliers, or only in the ranks' multipliers."""
    by_rank, by_item = np.zeros(len(columns)), np.zeros(len(exposures))

    def evaluate(by_rank: FloatArray, by_item: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        if exact_rows:
            by_item = _item_multipliers(by_rank, by_item, exposures, columns, copies)
        value, matrix = _dual(by_rank, by_item, exposures, columns, copies)
        return value, matrix, by_item

    value, matrix, by_item = evaluate(by_rank, by_item)
    for _ in range(steps):
        if _error(matrix, columns, copies, exposures) <= PRECISION:
            break
        rank_errors, item_errors = matrix.sum(axis=0) - copies, matrix @ columns - exposures
        _, item_step, rank_step = _multipliers(
            matrix, columns, np.zeros(len(exposures)), -item_errors, -rank_errors
        )
        if exact_rows:
            item_step = np.zeros(len(exposures))
        slope = rank_errors @ rank_step + item_errors @ item_step
        # Far from the solution, a full step could leave an item at a single rank.
        size = min(1.0, 10 / max(np.abs(rank_step + item_step[:, None] * columns).max(), 1e-9))
        while True:
            new_value, new_matrix, new_by_item = evaluate(
                by_rank + size * rank_step, by_item + size * item_step
            )
            # Near the solution, differences between values are smaller than rounding errors.
            if new_value <= value + 1e-4 * size * slope + 1e-12 * abs(value) or size < 1e-8:
                break
            size /= 2
        by_rank, by_item = by_rank + size * rank_step, new_by_item
        value, matrix = new_value, new_matrix
    return matrix


def _dual(
    by_rank: FloatArray,
    by_item: FloatArray,
    exposures: FloatArray,
    columns: FloatArray,
    copies: FloatArray,
) -> tuple[float, FloatArray]:
    """Value of the maximum-entropy dual, and its matrix."""
    powers = by_rank + by_item[:, None] * columns
    top = powers.max(axis=1, keepdims=True)
    terms = copies * np.exp(powers - top)
    sums = terms.sum(axis=1, keepdims=True)
    value = (np.log(sums) + top).sum() - by_item @ exposures - by_rank @ copies
    return float(value), terms / sums


def _item_multipliers(
    by_rank: FloatArray,
    by_item: FloatArray,
    exposures: FloatArray,
    columns: FloatArray,
    copies: FloatArray,
) -> FloatArray:
    """Multipliers of the items that yield their exposures, for given multipliers of ranks.

    On the scale log((exposure - lowest) / (highest - exposure)), an exposure is nearly linear in
    its multiplier, even close to its bounds.
    """
    low, high = columns.min(), columns.max()
    logits = np.log(exposures - low) - np.log(high - exposures)
    for _ in range(60):
        _, matrix = _dual(by_rank, by_item, exposures, columns, copies)
        above_low, below_high = matrix @ (columns - low), matrix @ (high - columns)
        tiny = np.finfo(float).tiny
        errors = logits - np.log(np.maximum(above_low, tiny)) + np.log(np.maximum(below_high, tiny))
        if np.abs(errors).max() <= 1e-13:
            break
        spread = (matrix * (columns - (matrix @ columns)[:, None]) ** 2).sum(axis=1)
        rate = spread * (high - low) / np.maximum(above_low * below_high, tiny)
        by_item = by_item + errors / np.maximum(rate, (high - low) * 1e-3)
    return by_item


def _centre_block(exposures: FloatArray, weights: FloatArray, hidden: int) -> FloatArray:
    """Analytic centre of a block: each probability is 1 / (a_i + l_i v_j + b_j).

    Maximises the dual, the sum of log(a_i + l_i v_j + b_j) minus the required sums times their
    multipliers. It is self-concordant, so Newton's method converges from any interior start.
    """
    columns = _column_weights(exposures, weights, hidden)
    if columns is None:
        return _equal_probabilities(len(exposures), len(weights), hidden)
    copies = np.ones(len(columns))
    if hidden:
        copies[-1] = hidden
    inverse = np.full((len(exposures), len(columns)), float(len(columns)))
    for _ in range(STEPS):
        matrix = 1 / inverse
        rows, items, ranks = _multipliers(
            matrix**2,
            columns,
            matrix.sum(axis=1) - 1,
            matrix @ columns - exposures,
            matrix.sum(axis=0) - copies,
        )
        step = rows[:, None] + items[:, None] * columns + ranks
        change = step * matrix
        decrement = float(np.sqrt((change**2).sum()))
        if decrement < 1e-7:
            return 1 / (inverse + step)
        size = 1.0
        if decrement > 0.25:
            # At least the step that is known to be safe, usually 0.9 of the way to the boundary.
            size = min(1.0, max(1 / (1 + decrement), 0.9 / max(-change.min(), 1e-9)))
            gain = decrement**2
            while (
                size > 1 / (1 + decrement)
                and np.log1p(size * change).sum() - size * (change.sum() - gain)
                < 1e-4 * size * gain
            ):
                size = max(size / 2, 1 / (1 + decrement))
        inverse = inverse + size * step
    raise ArithmeticError(
        f"The analytic centre was not reached in {STEPS} steps: two exposures may be almost "
        "equal; use entropy_marginals."
    )


def _error(
    matrix: FloatArray, columns: FloatArray, copies: FloatArray, exposures: FloatArray
) -> float:
    """Largest error of a column sum or of an exposure."""
    rank_errors, item_errors = matrix.sum(axis=0) - copies, matrix @ columns - exposures
    return float(max(np.abs(rank_errors).max(), np.abs(item_errors).max()))


def _multipliers(
    elements: FloatArray,
    columns: FloatArray,
    row_sums: FloatArray,
    exposure_sums: FloatArray,
    column_sums: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve for a_i, l_i and b_j, given sums of W_ij (a_i + l_i v_j + b_j).

    The sums are over each row, over each row weighted by v, and over each column.
    """
    totals = elements.sum(axis=1)
    means = (elements @ columns) / totals
    deviations = columns - means[:, None]
    weighted = elements * deviations
    spread = (weighted * deviations).sum(axis=1)
    centred = exposure_sums - means * row_sums
    by_total, by_spread = elements / totals[:, None], weighted / spread[:, None]
    system = np.diag(elements.sum(axis=0)) - elements.T @ by_total - weighted.T @ by_spread
    right_side = column_sums - by_total.T @ row_sums - by_spread.T @ centred
    null_space = np.column_stack([np.ones(len(columns)), columns - columns.mean()])
    null_space /= np.linalg.norm(null_space, axis=0)
    scale = float(elements.sum()) / len(columns)
    ranks = np.linalg.solve(system + scale * (null_space @ null_space.T), right_side)
    items = (centred - weighted @ ranks) / spread
    rows = (row_sums - elements @ ranks) / totals - items * means
    return rows, items, ranks
