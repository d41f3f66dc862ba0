"""Re-ranking within the uncertainty of scores (PUFR).

A ranker with uncertainty returns a mean and a standard deviation for each document. The scores of a
group move up or down by a number of these deviations, but never past another document of the same
group.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError, require
from everycell.fair_ranking.fa_ir import checked_flags


def moved_scores(
    means: npt.ArrayLike,
    deviations: npt.ArrayLike,
    groups: Sequence[Hashable] | npt.NDArray[np.generic],
    alphas: Mapping[Hashable, float],
) -> FloatArray:
    """Move scores by alpha standard deviations per group, keeping the order within each group.

    Source: heuss2025, Algorithm 3 and equations 3.1 to 3.4, which have two groups and one alpha,
    ``{True: alpha, False: -alpha}`` here. Section 3.3.2 mentions more groups, each with its own
    alpha.
    """
    centres, spreads, labels = checked_scores(means, deviations, groups)
    moved = centres.copy()
    for label in set(labels):
        require(label in alphas, "group", label, f"one of {list(alphas)}, which have an alpha")
        alpha = float(alphas[label])
        require(np.isfinite(alpha), f"alpha of group {label!r}", alpha, "a finite number")
        members = np.flatnonzero([document_label == label for document_label in labels])
        order = members[np.argsort(-centres[members], kind="stable")]
        shifted = centres[order] + alpha * spreads[order]
        if alpha >= 0:
            moved[order] = np.minimum.accumulate(shifted)
        else:
            moved[order] = np.maximum.accumulate(shifted[::-1])[::-1]
    return moved


def sort_by_moved_scores(means: npt.ArrayLike, moved: npt.ArrayLike) -> IntArray:
    """Sort documents by moved score; ties are broken by mean, then by position.

    Ties are common: a document that reaches another document of its group takes that document's
    score. The thesis does not state how ties are broken; the released code subtracts 0.000001 per
    rank, which has the same effect within a group.
    """
    return np.lexsort((-np.asarray(means, dtype=float), -np.asarray(moved, dtype=float)))


def pufr(
    means: npt.ArrayLike, deviations: npt.ArrayLike, protected: npt.ArrayLike, alpha: float
) -> IntArray:
    """Re-rank a list in favour of its protected documents, within alpha standard deviations.

    Parameters
    ----------
    means, deviations : array_like of float, shape (n,)
        Score of each document, and its standard deviation of 0 or more.
    protected : array_like of bool, shape (n,)
        Documents that move up; the others move down.
    alpha : float
        Number of standard deviations, 0 or more; with 0, documents are sorted by mean.

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        Positions of the documents, best first.

    Raises
    ------
    ValueError
        For a mean that is not finite, a deviation or alpha below 0, lists of different lengths, and
        a document that is neither protected nor unprotected.

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
    require(alpha >= 0, "alpha", alpha, "a number of standard deviations, 0 or more")
    is_protected = checked_flags(protected).tolist()
    moved = moved_scores(means, deviations, is_protected, {True: alpha, False: -alpha})
    return sort_by_moved_scores(means, moved)


def count_crossing_intervals(
    means: npt.ArrayLike, deviations: npt.ArrayLike, alpha: float
) -> IntArray:
    """Number of documents with which each could swap, within alpha deviations.

    Intervals include their bounds (heuss2025, Figure 3.2). The thesis does not state whether a
    document counts itself; here it does not.
    """
    centres, spreads, _ = checked_scores(means, deviations, [0] * np.size(means))
    require(alpha >= 0, "alpha", alpha, "a number of standard deviations, 0 or more")
    low, high = np.sort(centres - alpha * spreads), np.sort(centres + alpha * spreads)
    # Intervals overlap unless one of them ends before the other begins.
    starting_before_end = np.searchsorted(low, centres + alpha * spreads, side="right")
    ending_before_start = np.searchsorted(high, centres - alpha * spreads, side="left")
    return starting_before_end - ending_before_start - 1


def checked_scores(
    means: npt.ArrayLike,
    deviations: npt.ArrayLike,
    groups: Sequence[Hashable] | npt.NDArray[np.generic],
) -> tuple[FloatArray, FloatArray, list[Hashable]]:
    """Check that means, deviations and groups of a list are complete and equally long."""
    centres = np.asarray(means, dtype=float)
    spreads = np.asarray(deviations, dtype=float)
    labels = list(groups)
    sizes = centres.size, spreads.size, len(labels)
    is_list = centres.ndim == spreads.ndim == 1 and len(set(sizes)) == 1
    require(is_list, "numbers of means, deviations and groups", sizes, "one of each per document")
    for name, values, lowest in (("mean", centres, -np.inf), ("standard deviation", spreads, 0.0)):
        for index in np.flatnonzero(~np.isfinite(values) | (values < lowest)):
            expected = "a finite number" if lowest < 0 else "a finite number of 0 or more"
            where, value = f"document {index}", float(values[index])
            raise DataError(None, where, name, value, expected=expected)
    return centres, spreads, labels
