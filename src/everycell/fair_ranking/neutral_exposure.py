"""FaiRR with the discount 1/rank: neutrality of the documents that readers see first.

The measure of the same name in `everycell.metrics.nfairr` discounts by log2(1 + rank) and is
normalised by a background of documents. This one discounts by the rank, and is normalised by the
best order of the same list. The two are not comparable, so they have two names.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everycell.engine.arrays import FloatArray


def reciprocal_fairr(neutralities: npt.ArrayLike, cutoff: int) -> float:
    """Sum of neutrality over rank, up to a cut-off.

    Parameters
    ----------
    neutralities : array_like of float, shape (n,)
        Neutrality of the document at each rank, from the first, between 0 and 1.
    cutoff : int
        Cut-off, 1 or more; a shorter list is used whole.

    Returns
    -------
    float
        Between 0 and the harmonic number of the cut-off.

    Raises
    ------
    ValueError
        A neutrality outside 0 and 1, a cut-off below 1.

    Notes
    -----
    Source: heuss2025, equation 3.10.

    Examples
    --------
    >>> reciprocal_fairr([1, 0, 0.5], 3)
    1.1666666666666667
    """
    if cutoff < 1:
        raise ValueError(f"The cut-off is {cutoff}: it must be 1 or more.")
    values = _checked(neutralities)[:cutoff]
    return float((values / np.arange(1, len(values) + 1)).sum())


def reciprocal_nfairr(neutralities: npt.ArrayLike, cutoff: int) -> float:
    """`reciprocal_fairr` as a share of that of the best order of the same list.

    Parameters
    ----------
    neutralities : array_like of float, shape (n,)
        As for `reciprocal_fairr`, for *all* candidates of the query, also those past the cut-off.
    cutoff : int
        Cut-off, 1 or more.

    Returns
    -------
    float
        Between 0 and 1; NaN for a list without any neutrality, where no order is fairer.

    Raises
    ------
    ValueError
        As `reciprocal_fairr`.

    Notes
    -----
    Source: heuss2025, section 3.4.2. The released code uses 1 for protected and 0 for other
    documents as their neutrality.

    Examples
    --------
    >>> reciprocal_nfairr([0, 1, 1], 2)
    0.3333333333333333
    """
    best = reciprocal_fairr(-np.sort(-_checked(neutralities)), cutoff)
    return reciprocal_fairr(neutralities, cutoff) / best if best > 0 else float("nan")


def _checked(neutralities: npt.ArrayLike) -> FloatArray:
    values = np.asarray(neutralities, dtype=float)
    wrong = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if values.ndim != 1 or wrong.size:
        fault = f"{values[wrong[0]]} at rank {wrong[0] + 1}" if values.ndim == 1 else "no list"
        raise ValueError(f"The neutralities have {fault}: give one between 0 and 1 for each rank.")
    return values
