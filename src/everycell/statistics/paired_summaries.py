r"""Significance of a paired t-test, as far as published means determine it.

A table reports two means of n paired values, but not the pairs. The statistic of the paired test is

.. math:: t = \frac{S/n}{\sqrt{(Q - S^2/n) / (n (n - 1))}},

where S is the sum of the n differences and Q the sum of their squares. S follows from the two
means. Q does not, but it is bounded: above by the means if the values are in [0, 1]
(`largest_sum_of_squares`), and below by S. If all values are 0 or 1, each difference is -1, 0 or 1,
so Q is the number of pairs that changed, and a published mean of absolute differences determines
it.
"""

from __future__ import annotations

import math
from typing import Literal

#: Whether the test is significant: for every set of pairs with these means, for none, or for some.
Outcome = Literal["yes", "no", "open"]


def paired_t(total: float, squares: float, n: int) -> float:
    """Statistic of the paired t-test from the sums of differences and of their squares."""
    _check_pairs(n)
    spread = squares - total**2 / n
    if spread < -1e-9 * max(1.0, squares):
        raise ValueError(
            f"The squares of {n} differences with the sum {total:g} sum to at least "
            f"{total**2 / n:g}, got {squares:g}; check the two sums."
        )
    if total == 0:
        return 0.0
    if spread <= 1e-12 * squares:
        return math.copysign(math.inf, total)
    return total / n / math.sqrt(spread / (n * (n - 1)))


def p_value(statistic: float, n: int) -> float:
    """Two-sided p-value of the paired t-test of n pairs."""
    # Audits import this module, and loading scipy.stats would take a second.
    from scipy.special import stdtr

    _check_pairs(n)
    return float(2 * stdtr(n - 1, -abs(statistic)))


def largest_sum_of_squares(first: float, second: float, n: int) -> float:
    """Largest sum of squared differences of pairs in [0, 1] with these means.

    It is reached if all values are 0 or 1 and as few pairs as possible agree.
    """
    for mean in (first, second):
        if not 0 <= mean <= 1:
            raise ValueError(f"The mean is {mean:g}: give a number between 0 and 1.")
    return n * min(first + second, 2 - first - second)


def critical_sum_of_squares(total: float, n: int, *, alpha: float = 0.05) -> float:
    """Largest sum of squares at which differences with this sum are still significant.

    For values of 0 and 1, this is the largest number of pairs that may have changed.
    """
    from scipy.special import stdtrit

    _check_pairs(n)
    critical_t = float(stdtrit(n - 1, alpha / 2))
    return total**2 / n * (1 + (n - 1) / critical_t**2)


def decide(
    difference: tuple[float, float],
    squares: tuple[float, float],
    n: int,
    *,
    alpha: float = 0.05,
) -> Outcome:
    """Decide whether a paired t-test is significant, as far as the bounds determine it.

    `difference` has the bounds on the sum of differences, `squares` those on the sum of squares.
    """
    low, high = sorted(map(abs, difference))
    smallest = 0.0 if difference[0] * difference[1] <= 0 else low
    if smallest > 0 and squares[1] <= critical_sum_of_squares(smallest, n, alpha=alpha):
        return "yes"
    if high == 0 or squares[0] > critical_sum_of_squares(high, n, alpha=alpha):
        return "no"
    return "open"


def _check_pairs(n: int) -> None:
    if n < 2:
        raise ValueError(f"The number of pairs is {n}: a paired test needs at least two.")
