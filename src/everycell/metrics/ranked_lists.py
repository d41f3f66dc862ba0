"""Checks of the inputs of measures on ranked lists: targets, counts of groups, rank weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray

#: Tolerance for the sum of a target; published targets have at least six digits.
_ROUNDING = 1e-5


def checked_target(target: npt.ArrayLike | None, groups: int) -> FloatArray:
    """Check the target shares of groups; equal shares by default."""
    if groups < 2:
        raise ValueError(f"The number of groups is {groups}; group fairness requires at least two.")
    if target is None:
        return np.full(groups, 1 / groups)
    shares = np.asarray(target, dtype=float)
    if shares.shape != (groups,):
        raise ValueError(
            f"The target has the shape {shares.shape}; give one share for each of the {groups} "
            "groups, in their order."
        )
    if not (np.isfinite(shares) & (shares >= 0)).all():
        raise ValueError(
            f"The target shares are {shares.tolist()}; give finite numbers of 0 or more."
        )
    total = shares.sum()
    if abs(total - 1) > _ROUNDING:
        raise ValueError(
            f"The target shares sum to {total:g}; they must sum to 1, so divide them by their sum "
            "or correct them."
        )
    return shares / total


def checked_lists(
    values: npt.ArrayLike, listed: npt.ArrayLike | None, name: str, axes: int = 3
) -> tuple[FloatArray, BoolArray]:
    """Check values of queries x ranks (x groups); also return the listed ranks."""
    array = np.asarray(values, dtype=float)
    if array.ndim != axes or array.shape[1] == 0:
        raise ValueError(
            f"The {name} have the shape {array.shape}; give queries x ranks"
            f"{' x groups' if axes == 3 else ''}, with one rank or more."
        )
    if listed is None:
        mask = np.ones(array.shape[:2], dtype=bool)
    else:
        mask = np.asarray(listed, dtype=bool)
        if mask.shape != array.shape[:2]:
            raise ValueError(
                f"The mask of listed ranks has the shape {mask.shape} and the {name} "
                f"{array.shape}; give one entry for each query and rank."
            )
        if (mask[:, 1:] > mask[:, :-1]).any():
            query = int((mask[:, 1:] > mask[:, :-1]).any(axis=1).argmax())
            raise ValueError(
                f"Query {query} (counted from 0) has an empty rank above a document; a list must "
                "not have gaps, so move its documents up."
            )
        if not mask.all():
            array = np.where(mask.reshape(mask.shape + (1,) * (axes - 2)), array, 0.0)
    low = array.min(initial=0.0)
    if not (low >= 0 and array.max(initial=0.0) < np.inf):
        first_invalid = array[~(np.isfinite(array) & (array >= 0))][0]
        raise ValueError(f"The {name} contain {first_invalid:g}; give finite numbers of 0 or more.")
    return array, mask
