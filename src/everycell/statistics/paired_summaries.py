r"""What published means alone say about a paired t-test.

A table prints two means of n paired values, but not the pairs. The statistic of the paired test is

.. math:: t = \frac{S/n}{\sqrt{(Q - S^2/n) / (n (n - 1))}},

where S is the sum of the n differences and Q the sum of their squares. S follows from the two
means. Q does not, but it is bounded: above by the means themselves if the values lie in [0, 1]
(`most_squares`), and below by S. Where values are 0 or 1 each difference is -1, 0 or 1, so Q is
the number of pairs that changed, and a published mean of absolute differences gives it exactly.
"""

from __future__ import annotations

import math
from typing import Literal

#: Whether a test can be significant: for every set of pairs with these means, for none, for some.
Outcome = Literal["yes", "no", "open"]


def paired_t(total: float, squares: float, n: int) -> float:
    """Statistic of the paired t-test from two sums."""
    _check_pairs(n)
    spread = squares - total**2 / n
    if spread < -1e-9 * max(1.0, squares):
        raise ValueError(
            f"{n} differences with the sum {total:g} have squares that sum to {total**2 / n:g} or "
            f"more, not {squares:g}; check the two sums."
        )
    if total == 0:
        return 0.0
    if spread <= 1e-12 * squares:
        return math.copysign(math.inf, total)
    return total / n / math.sqrt(spread / (n * (n - 1)))


def p_value(statistic: float, n: int) -> float:
    """Two-sided p-value of the paired t-test of n pairs."""
    from scipy.special import stdtr  # audits import this module: scipy.stats takes a second

    _check_pairs(n)
    return float(2 * stdtr(n - 1, -abs(statistic)))


def most_squares(first: float, second: float, n: int) -> float:
    """Largest sum of squared differences of pairs in [0, 1] with these means.

    It is reached where all values are 0 or 1 and as few pairs as possible agree.
    """
    for mean in (first, second):
        if not 0 <= mean <= 1:
            raise ValueError(f"The mean {mean:g} is not a share: give a number from 0 to 1.")
    return n * min(first + second, 2 - first - second)


def squares_allowed(total: float, n: int, *, alpha: float = 0.05) -> float:
    """Largest sum of squares at which differences with this sum are still significant.

    For values of 0 and 1 this is the number of pairs that may have changed.
    """
    from scipy.special import stdtrit

    _check_pairs(n)
    critical = float(stdtrit(n - 1, alpha / 2))
    return total**2 / n * (1 + (n - 1) / critical**2)


def decide(
    difference: tuple[float, float],
    squares: tuple[float, float],
    n: int,
    *,
    alpha: float = 0.05,
) -> Outcome:
    """Say whether a paired t-test is significant, as far as summaries determine it."""
    low, high = sorted(map(abs, difference))
    smallest = 0.0 if difference[0] * difference[1] <= 0 else low
    if smallest > 0 and squares[1] <= squares_allowed(smallest, n, alpha=alpha):
        return "yes"
    if high == 0 or squares[0] > squares_allowed(high, n, alpha=alpha):
        return "no"
    return "open"


def _check_pairs(n: int) -> None:
    if n < 2:
        raise ValueError(f"There are {n} pairs; a paired test takes two or more.")
