"""FA*IR: enough protected documents in every prefix of a ranking, by a binomial test.

A prefix of k documents is fair if it does not have significantly fewer protected documents than k
random draws with the target share.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from everycell.base.arrays import BoolArray, IntArray
from everycell.base.errors import DataError, require


def minimum_protected(ranks: int, share: float, significance: float = 0.1) -> IntArray:
    """Minimum number of protected documents in each prefix.

    Parameters
    ----------
    ranks : int
        Number of prefixes, 0 or more.
    share : float
        Target share of protected documents, above 0 and below 1.
    significance : float
        Significance level of the test of one prefix, above 0 and below 1.

    Returns
    -------
    numpy.ndarray of int64, shape (ranks,)
        For the prefix of k documents, the smallest m with P(X <= m) > significance, where X is
        binomial with k draws.

    Raises
    ------
    ValueError
        A share or significance outside its range, ranks below 0.

    Notes
    -----
    Source: Zehlike et al., "FA*IR: a fair top-k ranking algorithm" (CIKM 2017), definition 1 and
    table 1. The inequality is strict: `scipy.stats.binom.ppf`, which uses "at least", is too low by
    one if both sides are equal. Shares are treated as exact decimals, and nearly equal
    probabilities are compared as fractions.

    Examples
    --------
    >>> minimum_protected(12, 0.5).tolist()
    [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4]
    """
    _check_arguments(ranks, share, significance)
    draws = np.arange(1, ranks + 1)
    numbers = binom.ppf(significance, draws, share).astype(np.int64)
    # The quantile may be off by rounding, so start below it and apply the definition.
    numbers = np.maximum(numbers - 1, 0)
    while (too_low := _cdf_is_at_most(numbers, draws, share, significance)).any():
        numbers = numbers + too_low
    return numbers


def failure_probability(minima: npt.ArrayLike, share: float) -> float:
    """Probability that random draws fail the test of at least one prefix.

    Source: Zehlike et al., section 4.2, who compute it by recursion.
    """
    counts = np.asarray(minima, dtype=int)
    _check_arguments(len(counts), share, 0.5)
    if (np.diff(counts, prepend=0) < 0).any() or (counts > np.arange(1, len(counts) + 1)).any():
        expected = "numbers that do not decrease and do not exceed the length of the prefix"
        raise DataError(column="minima", value=counts.tolist(), expected=expected)
    return float(_failure_probability(counts, share))


def _failure_probability(minima: IntArray, share: Any) -> Any:
    """Probability of a failure, which is exact if the share is a `Fraction`."""
    # Probability of each number of protected documents without a failure so far.
    probabilities = np.zeros(len(minima) + 1, dtype=np.array(share).dtype)
    probabilities[0] = 1
    for minimum in minima:
        probabilities[1:] = probabilities[1:] * (1 - share) + probabilities[:-1] * share
        probabilities[0] *= 1 - share
        probabilities[:minimum] = 0
    return 1 - probabilities.sum()


#: Probabilities that differ by less are compared as fractions.
_CLOSE = 1e-9


def _cdf_is_at_most(numbers: IntArray, draws: IntArray, share: float, bound: float) -> BoolArray:
    """Whether P(X <= numbers) <= bound, with shares as exact decimals."""
    probabilities = binom.cdf(numbers, draws, share)
    is_at_most = probabilities <= bound
    p, exact_bound = Fraction(str(float(share))), Fraction(str(float(bound)))
    for row in np.flatnonzero(np.abs(probabilities - bound) < _CLOSE):
        n, limit = int(draws[row]), int(numbers[row])
        exact_probability = sum(comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(limit + 1))
        is_at_most[row] = exact_probability <= exact_bound
    return is_at_most


def _fails_too_often(minima: IntArray, share: float, significance: float) -> bool:
    probability: Any = failure_probability(minima, share)
    if abs(probability - significance) < _CLOSE:
        probability = _failure_probability(minima, Fraction(str(float(share))))
        return bool(probability > Fraction(str(float(significance))))
    return bool(probability > significance)


def adjusted_significance(ranks: int, share: float, significance: float = 0.1) -> float:
    """Significance level per prefix for a given level of the complete ranking.

    Source: Zehlike et al., section 4.2. It is the largest level, to within 1e-6, at which random
    draws fail with at most `significance`, or 0 if a single required document fails more often.
    """
    _check_arguments(ranks, share, significance)
    low, high = 0.0, significance
    while high - low > 1e-6:
        middle = (low + high) / 2
        if _fails_too_often(minimum_protected(ranks, share, middle), share, significance):
            high = middle
        else:
            low = middle
    return low


def fa_ir(scores: npt.ArrayLike, protected: npt.ArrayLike, minima: npt.ArrayLike) -> IntArray:
    """Rank documents by score, with enough protected documents in every prefix (FA*IR).

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        Finite scores; higher is better.
    protected : array_like of bool, shape (n,)
        Which documents are protected.
    minima : array_like of int, shape (k,)
        Minimum number of protected documents in each prefix, k >= n (see `minimum_protected`).

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        Positions of the documents, best first. The next document is the best remaining protected
        one if the prefix needs it, and otherwise the best of all, with ties broken in favour of
        protected documents, then by position. If no protected document remains, the others follow
        by score, and the ranking may not be fair.

    Raises
    ------
    ValueError
        Lists of different lengths, scores that are not finite, a document that is neither protected
        nor unprotected, fewer minima than documents.

    Notes
    -----
    Source: Zehlike et al., algorithm 2. The code released with heuss2025 uses the minimum of rank
    k + 1 at rank k.

    Examples
    --------
    >>> fa_ir([5, 4, 3, 2, 1], [False, False, False, False, True], [0, 0, 0, 1, 1]).tolist()
    [0, 1, 2, 4, 3]
    """
    values, is_protected = np.asarray(scores, dtype=float), checked_flags(protected)
    counts = np.asarray(minima, dtype=int)
    is_list = values.ndim == 1 and values.shape == is_protected.shape
    require(is_list, "number of scores", values.size, f"{is_protected.size}, one per document")
    for value in values[~np.isfinite(values)]:
        raise DataError(column="score", value=float(value), expected="a finite number")
    number, expected = len(counts), f"{len(values)}, one per document"
    require(number >= len(values), "number of minima", number, expected)
    order = np.lexsort((~is_protected, -values))
    protected_documents = list(order[is_protected[order]][::-1])
    other_documents = list(order[~is_protected[order]][::-1])
    position = np.empty(len(values), dtype=np.int64)
    position[order] = np.arange(len(values))
    ranking: list[int] = []
    protected_count = 0
    for minimum in counts[: len(values)]:
        if protected_documents and (
            protected_count < minimum
            or not other_documents
            or position[protected_documents[-1]] < position[other_documents[-1]]
        ):
            ranking.append(protected_documents.pop())
            protected_count += 1
        else:
            ranking.append(other_documents.pop())
    return np.array(ranking, dtype=np.int64)


def checked_flags(protected: npt.ArrayLike) -> BoolArray:
    """Flags of documents, true or false; a missing flag would count as true."""
    try:
        flags = np.asarray(protected, dtype=float)
    except (TypeError, ValueError):
        flags = np.array([np.nan])
    if not np.isin(flags, (0, 1)).all():
        expected = "true or false for every document"
        value = np.asarray(protected, dtype=object).tolist()
        raise DataError(column="protected", value=value, expected=expected)
    return flags.astype(bool)


def _check_arguments(ranks: int, share: float, significance: float) -> None:
    require(ranks >= 0, "ranks", ranks, "0 or more")
    require(0 < share < 1, "share", share, "a number above 0 and below 1")
    require(0 < significance < 1, "significance", significance, "a number above 0 and below 1")
