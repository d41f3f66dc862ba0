"""FaiRR with the discount 1/rank, normalised by the best order of the same list.

The measures in `everycell.metrics.nfairr` discount by log2(1 + rank) and are normalised by a
background of documents. Values of the two variants are not comparable, so their names differ.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray


def reciprocal_fairr(neutralities: npt.ArrayLike, cutoff: int) -> float:
    """FaiRR with the discount 1/rank up to a cut-off (heuss2025, equation 3.10)."""
    if cutoff < 1:
        raise ValueError(f"The cut-off is {cutoff}: give 1 or more.")
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
    if values.ndim != 1:
        raise ValueError(
            f"The neutralities have the shape {values.shape}: give a list with one per rank."
        )
    invalid = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if invalid.size:
        raise ValueError(
            f"The neutrality at rank {invalid[0] + 1} is {values[invalid[0]]}: give numbers "
            "between 0 and 1."
        )
    return values
