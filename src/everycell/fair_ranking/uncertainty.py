"""Re-ranking within the uncertainty of scores: each group moves in its desired direction.

A ranker with uncertainty gives a mean and a standard deviation for each document. Scores may move
by some of these deviations, up in one group and down in another, but never past another document of
the same group.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from everycell.engine.arrays import FloatArray, IntArray


def moved_scores(
    means: npt.ArrayLike,
    deviations: npt.ArrayLike,
    groups: Sequence[Hashable] | npt.NDArray[np.generic],
    alphas: Mapping[Hashable, float],
) -> FloatArray:
    """Move scores by some deviations, group by group, keeping the order within each group (PUFR).

    Source: heuss2025, Algorithm 3 and equations 3.1 to 3.4, which have two groups and one alpha,
    ``{True: alpha, False: -alpha}`` here; section 3.3.2 mentions more groups, each with its own
    alpha.
    """
    centres, spreads, labels = checked_scores(means, deviations, groups)
    moved = centres.copy()
    for label in set(labels):
        if label not in alphas:
            raise ValueError(
                f"The group {label!r} has no alpha: give one for each of "
                f"{sorted(map(str, set(labels)))}."
            )
        alpha = float(alphas[label])
        if not np.isfinite(alpha):
            raise ValueError(f"The alpha of group {label!r} is {alpha}: give a finite number.")
        members = np.flatnonzero([other == label for other in labels])
        order = members[np.argsort(-centres[members], kind="stable")]
        shifted = centres[order] + alpha * spreads[order]
        if alpha >= 0:
            moved[order] = np.minimum.accumulate(shifted)
        else:
            moved[order] = np.maximum.accumulate(shifted[::-1])[::-1]
    return moved


def reranked(means: npt.ArrayLike, moved: npt.ArrayLike) -> IntArray:
    """Documents by decreasing moved score; ties by the mean, then by their position in the list.

    Parameters
    ----------
    means, moved : array_like of float, shape (n,)
        Scores before and after the move (`moved_scores`).

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        Numbers of the documents, the best first. Two documents of one group are never swapped.

    Notes
    -----
    Ties are common: a document that is stopped gets the score of the one that stops it. The thesis
    does not say how they are broken; the released code subtracts 0.000001 per rank, which has the
    same effect within a group.

    Examples
    --------
    >>> reranked([3.0, 2.0, 1.5], [3.1, 1.8, 3.1]).tolist()
    [0, 2, 1]
    """
    return np.lexsort((-np.asarray(means, dtype=float), -np.asarray(moved, dtype=float)))


def pufr(
    means: npt.ArrayLike, deviations: npt.ArrayLike, protected: npt.ArrayLike, alpha: float
) -> IntArray:
    """Re-rank one list in favour of its protected documents, within alpha standard deviations.

    Parameters
    ----------
    means, deviations : array_like of float, shape (n,)
        As for `moved_scores`.
    protected : array_like of bool, shape (n,)
        Which documents rise; the others fall.
    alpha : float
        Number of deviations, 0 or more; at 0 the list is unchanged.

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        Numbers of the documents, the best first; a list of one group only keeps its order.

    Raises
    ------
    ValueError
        As `moved_scores`, and for an alpha below 0.

    Notes
    -----
    Source: heuss2025, Algorithm 3.

    Examples
    --------
    >>> pufr([3.0, 2.0, 1.5], [0.1, 0.2, 0.2], [False, False, True], 1.0).tolist()
    [0, 1, 2]
    >>> pufr([3.0, 2.0, 1.5], [0.1, 0.2, 0.2], [False, False, True], 2.0).tolist()
    [0, 2, 1]
    """
    if not alpha >= 0:
        raise ValueError(f"Alpha is {alpha}: give a number of standard deviations, 0 or more.")
    rises = np.asarray(protected, dtype=bool).tolist()
    return reranked(means, moved_scores(means, deviations, rises, {True: alpha, False: -alpha}))


def count_crossing_intervals(
    means: npt.ArrayLike, deviations: npt.ArrayLike, alpha: float
) -> IntArray:
    """Number of other documents that each document could swap with, within alpha deviations.

    Parameters
    ----------
    means, deviations : array_like of float, shape (n,)
        As for `moved_scores`.
    alpha : float
        Half the width of the intervals in deviations, 0 or more.

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        For each document the others whose interval shares a point with its own, ends included.

    Raises
    ------
    ValueError
        As `pufr`.

    Notes
    -----
    Source: heuss2025, Figure 3.2, which shows this count by rank. The thesis does not say whether a
    document counts itself; here it does not.

    Examples
    --------
    >>> count_crossing_intervals([3.0, 2.0, 1.5], [0.1, 0.3, 0.3], 1.0).tolist()
    [0, 1, 1]
    """
    centres, spreads, _ = checked_scores(means, deviations, [0] * np.size(means))
    if not alpha >= 0:
        raise ValueError(f"Alpha is {alpha}: give a number of standard deviations, 0 or more.")
    low, high = np.sort(centres - alpha * spreads), np.sort(centres + alpha * spreads)
    # Intervals that begin after this one ends, or end before it begins, share nothing with it.
    begun = np.searchsorted(low, centres + alpha * spreads, side="right")
    ended = np.searchsorted(high, centres - alpha * spreads, side="left")
    return begun - ended - 1


def checked_scores(
    means: npt.ArrayLike,
    deviations: npt.ArrayLike,
    groups: Sequence[Hashable] | npt.NDArray[np.generic],
) -> tuple[FloatArray, FloatArray, list[Hashable]]:
    """Check the means, deviations and groups of one list: same length and no gaps.

    Examples
    --------
    >>> checked_scores([1.0, 2.0], [0.1, None], "ab")
    Traceback (most recent call last):
    ...
    ValueError: The standard deviation of document 1 is nan: give a number, 0 or more.
    """
    centres = np.asarray(means, dtype=float)
    spreads = np.asarray(deviations, dtype=float)
    labels = list(groups)
    if centres.ndim != 1 or centres.shape != spreads.shape or len(labels) != centres.size:
        raise ValueError(
            f"There are {centres.size} means, {spreads.size} standard deviations and "
            f"{len(labels)} groups: give one of each for every document."
        )
    for name, values, lowest in (("mean", centres, -np.inf), ("standard deviation", spreads, 0.0)):
        wrong = np.flatnonzero(~np.isfinite(values) | (values < lowest))
        if wrong.size:
            allowed = "a finite number" if lowest < 0 else "a number, 0 or more"
            raise ValueError(
                f"The {name} of document {wrong[0]} is {values[wrong[0]]}: give {allowed}."
            )
    return centres, spreads, labels
