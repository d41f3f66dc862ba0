"""Maximum-utility rankings under a fairness constraint: an exact and a fast method.

Utility is the discounted sum of scores. Fairness is the sum of neutrality over rank
(`everycell.fair_ranking.constrained`), and its minimum is set as a share of the largest
fairness that the list allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError, require
from everycell.fair_ranking.fair_exposure import check_numbers

#: Relative tolerance for rounding of the required fairness.
TOLERANCE = 1e-9


class ConstrainedRanking(NamedTuple):
    """A ranking that satisfies the constraint, its utility, and an upper bound on utility."""

    ranking: IntArray  #: shape (n,): the document at each rank
    utility: float  #: discounted sum of scaled scores
    bound: float  #: upper bound on the utility of rankings that satisfy the constraint

    @property
    def loss(self) -> float:
        """Upper bound on the relative loss of utility compared with the optimum."""
        return (self.bound - self.utility) / self.bound if self.bound > 0 else 0.0


def scale_scores(scores: npt.ArrayLike) -> FloatArray:
    """Scale the scores of a list to (0, 1], after adding 0.00001 so that none is 0.

    Source: the released code of heuss2025.
    """
    values = np.asarray(scores, dtype=float)
    shifted = values - values.min() + 1e-5
    return shifted / shifted.max()


def best_by_integer_program(
    scores: npt.ArrayLike, neutralities: npt.ArrayLike, share: float
) -> ConstrainedRanking:
    """Maximum-utility ranking under a fairness constraint, by an integer program.

    The share is of the largest possible fairness (heuss2025, section 3.4.4). The released code uses
    GLPK; here HiGHS solves the program, which has n squared variables and is slow.
    """
    values, neutrality, discounts, exposures, required_fairness = _checked_inputs(
        scores, neutralities, share
    )
    n = len(values)
    row_and_column_sums = sparse.vstack(
        [
            sparse.kron(sparse.identity(n), np.ones((1, n))),
            sparse.kron(np.ones((1, n)), sparse.identity(n)),
        ],
        format="csr",
    )
    solution = milp(
        -np.outer(values, discounts).ravel(),
        constraints=[
            LinearConstraint(row_and_column_sums, 1, 1),
            LinearConstraint(np.outer(neutrality, exposures).reshape(1, -1), required_fairness),
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
    """Near-optimal ranking under a fairness constraint, by a Lagrange multiplier.

    If the value of a document at a rank is its utility plus the multiplier times its fairness, the
    best ranking solves an assignment problem. Fairness does not decrease with the multiplier, so
    bisection finds the smallest sufficient one. It also bounds the loss relative to the optimum.
    """
    values, neutrality, discounts, exposures, required_fairness = _checked_inputs(
        scores, neutralities, share
    )
    utilities, fairnesses = np.outer(values, discounts), np.outer(neutrality, exposures)

    by_score = np.argsort(-values, kind="stable")
    highest_utility = float(values[by_score] @ discounts)
    if float(neutrality[by_score] @ exposures) >= required_fairness:
        return ConstrainedRanking(by_score, highest_utility, highest_utility)
    # The fairest ranking satisfies the constraint even if no multiplier yields it due to rounding.
    fairest = np.lexsort((-values, -neutrality))
    bound = highest_utility
    best = ConstrainedRanking(fairest, float(values[fairest] @ discounts), bound)
    low, high, limit = 0.0, np.inf, 1.0
    for _ in range(steps):
        multiplier = min((low + high) / 2, limit)
        documents, ranks = linear_sum_assignment(utilities + multiplier * fairnesses, maximize=True)
        ranking = documents[np.argsort(ranks)]
        utility = float(values[ranking] @ discounts)
        fairness = float(neutrality[ranking] @ exposures)
        bound = min(bound, utility + multiplier * (fairness - required_fairness))
        if fairness >= required_fairness:
            high = multiplier
            if utility > best.utility:
                best = ConstrainedRanking(ranking, utility, bound)
        else:
            low, limit = multiplier, 4 * max(multiplier, limit)
    return best._replace(bound=max(bound, best.utility))


def _checked_inputs(
    scores: npt.ArrayLike, neutralities: npt.ArrayLike, share: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    """Scores, neutralities, discounts of utility and of fairness, and the required fairness."""
    values, neutrality = np.asarray(scores, dtype=float), np.asarray(neutralities, dtype=float)
    sizes = values.size, neutrality.size
    is_paired = values.ndim == 1 and values.shape == neutrality.shape and values.size
    require(is_paired, "numbers of scores and neutralities", sizes, "one of each per document")
    check_numbers("score", values)
    _checked_neutralities(neutrality)
    require(0 <= share <= 1, "share", share, "a number from 0 to 1")
    ranks = np.arange(1, len(values) + 1)
    exposures = 1 / ranks
    required_fairness = share * float(-np.sort(-neutrality) @ exposures) * (1 - TOLERANCE)
    return values, neutrality, 1 / np.log2(1 + ranks), exposures, required_fairness


def reciprocal_fairr(neutralities: npt.ArrayLike, cutoff: int) -> float:
    """FaiRR with the discount 1/rank up to a cut-off (heuss2025, equation 3.10)."""
    require(cutoff >= 1, "cutoff", cutoff, "1 or more")
    values = _checked_neutralities(neutralities)[:cutoff]
    return float((values / np.arange(1, len(values) + 1)).sum())


def reciprocal_nfairr(neutralities: npt.ArrayLike, cutoff: int) -> float:
    """`reciprocal_fairr`, normalised by its value for the best order of the same list.

    It is NaN if all neutralities are 0. They are those of all candidates of the query, also below
    the cut-off (heuss2025, section 3.4.2); in the released code, 1 for protected documents, else 0.
    """
    best = reciprocal_fairr(-np.sort(-_checked_neutralities(neutralities)), cutoff)
    return reciprocal_fairr(neutralities, cutoff) / best if best > 0 else float("nan")


def _checked_neutralities(neutralities: npt.ArrayLike) -> FloatArray:
    values = np.asarray(neutralities, dtype=float)
    require(values.ndim == 1, "shape of the neutralities", values.shape, "one per rank")
    for index in np.flatnonzero(~((values >= 0) & (values <= 1))):
        value = float(values[index])
        raise DataError(None, f"rank {index + 1}", "neutrality", value, expected="0 to 1")
    return values
