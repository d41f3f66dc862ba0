"""The ranking with the most utility among those that are fair enough: an exact and a fast method.

Utility is the discounted sum of scores, fairness the sum of neutrality over rank
(`everycell.fair_ranking.neutral_exposure`), as a share of the largest that the list allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from everycell.engine.arrays import FloatArray, IntArray

#: Share of the required fairness by which rounding may miss it.
TOLERANCE = 1e-9


class ConstrainedRanking(NamedTuple):
    """A ranking that is fair enough, its utility, and an upper bound on utility."""

    ranking: IntArray  #: shape (n,): the document at each rank
    utility: float  #: discounted sum of gains
    bound: float  #: no ranking that is fair enough has more utility

    @property
    def loss(self) -> float:
        """Upper bound on the loss of this ranking, as a share of the best utility."""
        return (self.bound - self.utility) / self.bound if self.bound > 0 else 0.0


def gains(scores: npt.ArrayLike) -> FloatArray:
    """Scores of one list scaled to (0, 1], with 0.00001 for the lowest, so that none is worthless.

    Source: the released code of heuss2025.
    """
    values = np.asarray(scores, dtype=float)
    shifted = values - values.min() + 1e-5
    return shifted / shifted.max()


def best_by_integer_program(
    scores: npt.ArrayLike, neutralities: npt.ArrayLike, share: float
) -> ConstrainedRanking:
    """The ranking with the most utility that is fair enough, by an integer program.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        More is better, 0 or more (`gains`).
    neutralities : array_like of float, shape (n,)
        Between 0 and 1.
    share : float
        Least share of the largest possible fairness, between 0 and 1.

    Returns
    -------
    ConstrainedRanking
        Its bound is its utility, up to the solver's tolerance.

    Raises
    ------
    ValueError
        Lists of different lengths or without documents, a score below 0, a neutrality or share
        outside 0 and 1.
    ArithmeticError
        If the solver finds no solution.

    Notes
    -----
    Source: heuss2025, section 3.4.4, and its released code, there with GLPK. Solved by HiGHS
    (`scipy.optimize.milp`) with n squared variables: the reference, and slow.

    Examples
    --------
    >>> best_by_integer_program([0.9, 0.8, 0.1], [0, 0, 1], 0.5).ranking.tolist()
    [0, 2, 1]
    """
    values, neutral, discounts, exposures, floor = _checked(scores, neutralities, share)
    n = len(values)
    once = sparse.vstack(
        [
            sparse.kron(sparse.identity(n), np.ones((1, n))),
            sparse.kron(np.ones((1, n)), sparse.identity(n)),
        ],
        format="csr",
    )
    solution = milp(
        -np.outer(values, discounts).ravel(),
        constraints=[
            LinearConstraint(once, 1, 1),
            LinearConstraint(np.outer(neutral, exposures).reshape(1, -1), floor),
        ],
        integrality=np.ones(n * n),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 1e-9},
    )
    if solution.x is None:
        raise ArithmeticError(f"HiGHS found no ranking of {n} documents: {solution.message}")
    ranking = solution.x.reshape(n, n).argmax(axis=0)
    return ConstrainedRanking(ranking, float(values[ranking] @ discounts), -solution.mip_dual_bound)


def best_by_assignment(
    scores: npt.ArrayLike, neutralities: npt.ArrayLike, share: float, *, steps: int = 30
) -> ConstrainedRanking:
    """A ranking that is fair enough, with nearly the most utility, by a price on fairness.

    Parameters
    ----------
    scores, neutralities, share
        As for `best_by_integer_program`.
    steps : int
        Prices to try.

    Returns
    -------
    ConstrainedRanking
        It is fair enough. Its bound comes from the price (a Lagrange multiplier), so that its loss
        compared with the best ranking is known without solving the integer program.

    Raises
    ------
    ValueError
        As `best_by_integer_program`.

    Notes
    -----
    With utility plus price times fairness as the value of a document at a rank, the best ranking
    is an assignment (`scipy.optimize.linear_sum_assignment`). A higher price never makes it less
    fair, so the lowest sufficient price is found by bisection.

    Examples
    --------
    >>> best_by_assignment([0.9, 0.8, 0.1], [0, 0, 1], 0.5).ranking.tolist()
    [0, 2, 1]
    """
    values, neutral, discounts, exposures, floor = _checked(scores, neutralities, share)
    utility, fairness = np.outer(values, discounts), np.outer(neutral, exposures)

    free = np.argsort(-values, kind="stable")
    own = float(values[free] @ discounts)
    if float(neutral[free] @ exposures) >= floor:
        return ConstrainedRanking(free, own, own)
    # Always fair enough, even where no price finds it because of rounding.
    fairest = np.lexsort((-values, -neutral))
    best, bound = ConstrainedRanking(fairest, float(values[fairest] @ discounts), own), own
    low, high, highest = 0.0, np.inf, 1.0
    for _ in range(steps):
        price = min((low + high) / 2, highest)
        documents, ranks = linear_sum_assignment(utility + price * fairness, maximize=True)
        ranking = documents[np.argsort(ranks)]
        worth, fair = float(values[ranking] @ discounts), float(neutral[ranking] @ exposures)
        bound = min(bound, worth + price * (fair - floor))
        if fair >= floor:
            high = price
            if worth > best.utility:
                best = ConstrainedRanking(ranking, worth, bound)
        else:
            low, highest = price, 4 * max(price, highest)
    return best._replace(bound=max(bound, best.utility))


def _checked(
    scores: npt.ArrayLike, neutralities: npt.ArrayLike, share: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    """Gains, neutralities, discounts of utility and of fairness, and the required fairness."""
    values, neutral = np.asarray(scores, dtype=float), np.asarray(neutralities, dtype=float)
    if values.ndim != 1 or values.shape != neutral.shape or not values.size:
        raise ValueError(
            f"There are {values.size} scores and {neutral.size} neutralities: give one of each "
            "for every document, for one document at least."
        )
    if not ((values >= 0) & np.isfinite(values)).all():
        raise ValueError("A score is negative or not a number: give scores of 0 or more.")
    if not ((neutral >= 0) & (neutral <= 1)).all() or not 0 <= share <= 1:
        raise ValueError(f"A neutrality, or the share of {share}, is not a number between 0 and 1.")
    ranks = np.arange(1, len(values) + 1)
    exposures = 1 / ranks
    floor = share * float(-np.sort(-neutral) @ exposures) * (1 - TOLERANCE)
    return values, neutral, 1 / np.log2(1 + ranks), exposures, floor
