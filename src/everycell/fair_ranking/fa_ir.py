"""FA*IR: enough protected documents in every prefix of a ranking, by a test of proportions.

A prefix of k documents is fair if its protected documents are not significantly fewer than in k
draws with the target share.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from everycell.engine.arrays import BoolArray, IntArray


def minimum_protected(ranks: int, share: float, significance: float = 0.1) -> IntArray:
    """Number of protected documents that each prefix needs.

    Parameters
    ----------
    ranks : int
        Number of prefixes, 0 or more.
    share : float
        Minimum share of protected documents, above 0 and below 1.
    significance : float
        Probability that draws with this share fail in one prefix, above 0 and below 1.

    Returns
    -------
    numpy.ndarray of int64, shape (ranks,)
        For the prefix of k documents, the smallest m with P(X <= m) > significance where X is
        binomial with k draws.

    Raises
    ------
    ValueError
        A share or significance outside its range, ranks below 0.

    Notes
    -----
    Source: Zehlike et al., "FA*IR: a fair top-k ranking algorithm" (CIKM 2017), definition 1 and
    table 1. The inequality is strict; `scipy.stats.binom.ppf`, which uses "at least", is one too
    low where the two are equal. Shares are treated as exact decimals, and nearly equal
    probabilities are compared as fractions.

    Examples
    --------
    >>> minimum_protected(12, 0.5).tolist()
    [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4]
    """
    _check(ranks, share, significance)
    draws = np.arange(1, ranks + 1)
    numbers = binom.ppf(significance, draws, share).astype(np.int64)
    # Near the quantile, which may be off by rounding, the rule itself decides.
    numbers = np.maximum(numbers - 1, 0)
    while (short := _at_most(numbers, draws, share, significance)).any():
        numbers = numbers + short
    return numbers


def failure_chance(needed: npt.ArrayLike, share: float) -> float:
    """Probability that draws with the target share fail in some prefix.

    Parameters
    ----------
    needed : array_like of int, shape (k,)
        From `minimum_protected`.
    share : float
        Probability that a drawn document is protected, above 0 and below 1.

    Returns
    -------
    float
        Between 0 and 1, exact up to rounding: the draws that pass are followed rank by rank.

    Raises
    ------
    ValueError
        A share outside its range.

    Notes
    -----
    Source: Zehlike et al., section 4.2, who find it by recursion.

    Examples
    --------
    One of two documents must be protected: in one of four draws, none is.

    >>> failure_chance([0, 1], 0.5)
    0.25
    """
    minima = np.asarray(needed, dtype=int)
    _check(len(minima), share, 0.5)
    return float(_failing(minima, share))


def _failing(needed: IntArray, share: Any) -> Any:
    """Probability of a failure; exact for a share that is a fraction."""
    passing = np.zeros(len(needed) + 1, dtype=np.array(share).dtype)
    passing[0] = 1
    for minimum in needed:
        passing[1:] = passing[1:] * (1 - share) + passing[:-1] * share
        passing[0] *= 1 - share
        passing[:minimum] = 0
    return 1 - passing.sum()


#: Probabilities that are this close are compared as fractions.
_CLOSE = 1e-9


def _at_most(numbers: IntArray, draws: IntArray, share: float, bound: float) -> BoolArray:
    """Whether P(X <= numbers) <= bound, with shares as exact decimals."""
    chances = binom.cdf(numbers, draws, share)
    within = chances <= bound
    p, exact_bound = Fraction(str(float(share))), Fraction(str(float(bound)))
    for row in np.flatnonzero(np.abs(chances - bound) < _CLOSE):
        n, limit = int(draws[row]), int(numbers[row])
        chance = sum(comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(limit + 1))
        within[row] = chance <= exact_bound
    return within


def _fails_too_often(needed: IntArray, share: float, significance: float) -> bool:
    chance: Any = failure_chance(needed, share)
    if abs(chance - significance) < _CLOSE:
        chance = _failing(needed, Fraction(str(float(share))))
        return bool(chance > Fraction(str(float(significance))))
    return bool(chance > significance)


def adjusted_significance(ranks: int, share: float, significance: float = 0.1) -> float:
    """Significance for one prefix at which fair draws fail in some prefix with a given probability.

    Parameters
    ----------
    ranks, share
        As for `minimum_protected`.
    significance : float
        Probability of a failure in some prefix, above 0 and below 1.

    Returns
    -------
    float
        The largest value, to within 1e-6, whose probability of failure is at most `significance`; 0
        where requiring even one protected document is too much.

    Raises
    ------
    ValueError
        As `minimum_protected`.

    Notes
    -----
    Source: Zehlike et al., section 4.2: testing many prefixes needs a correction.

    Examples
    --------
    >>> chosen = adjusted_significance(20, 0.5, 0.1)
    >>> failure_chance(minimum_protected(20, 0.5, chosen), 0.5) <= 0.1
    True
    >>> round(chosen, 3)
    0.055
    """
    _check(ranks, share, significance)
    low, high = 0.0, significance
    while high - low > 1e-6:
        middle = (low + high) / 2
        if _fails_too_often(minimum_protected(ranks, share, middle), share, significance):
            high = middle
        else:
            low = middle
    return low


def fa_ir(scores: npt.ArrayLike, protected: npt.ArrayLike, needed: npt.ArrayLike) -> IntArray:
    """The ranking by score with enough protected documents in every prefix.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        More is better; finite.
    protected : array_like of bool, shape (n,)
        Which documents are protected.
    needed : array_like of int, shape (k,)
        Protected documents that each prefix needs, k at least n (`minimum_protected`).

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        Numbers of the documents, the best first. Where a prefix needs one, the best remaining
        protected document; otherwise the best of all, with ties broken in favour of protected
        documents, then by position. When no protected document is left, the others follow by score:
        such a list cannot be fair.

    Raises
    ------
    ValueError
        Lists of different lengths, scores that are not numbers, fewer needs than documents.

    Notes
    -----
    Source: Zehlike et al., algorithm 2. The code released with heuss2025 uses the need of rank k +
    1 at rank k.

    Examples
    --------
    >>> fa_ir([5, 4, 3, 2, 1], [False, False, False, False, True], [0, 0, 0, 1, 1]).tolist()
    [0, 1, 2, 4, 3]
    """
    values, favoured = np.asarray(scores, dtype=float), np.asarray(protected, dtype=bool)
    minima = np.asarray(needed, dtype=int)
    if values.ndim != 1 or values.shape != favoured.shape or not np.isfinite(values).all():
        raise ValueError(
            f"There are {values.size} scores for {favoured.size} documents, or one is not a "
            "number: give a finite score for each."
        )
    if len(minima) < len(values):
        raise ValueError(
            f"`needed` has {len(minima)} values for {len(values)} documents; give one per rank."
        )
    order = np.lexsort((~favoured, -values))
    waiting, unprotected = (
        list(order[favoured[order]][::-1]),
        list(order[~favoured[order]][::-1]),
    )
    position = np.empty(len(values), dtype=np.int64)
    position[order] = np.arange(len(values))
    ranking: list[int] = []
    count = 0
    for minimum in minima[: len(values)]:
        lacking = count < minimum and bool(waiting)
        if waiting and (
            lacking or not unprotected or position[waiting[-1]] < position[unprotected[-1]]
        ):
            ranking.append(waiting.pop())
            count += 1
        else:
            ranking.append(unprotected.pop())
    return np.array(ranking, dtype=np.int64)


def _check(ranks: int, share: float, significance: float) -> None:
    if ranks < 0:
        raise ValueError(f"`ranks` is {ranks}; give 0 or more.")
    for name, value in (("share", share), ("significance", significance)):
        if not 0 < value < 1:
            raise ValueError(f"The {name} is {value}: give a number above 0 and below 1.")
