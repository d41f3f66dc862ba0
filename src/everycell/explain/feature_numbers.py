"""Matching of the feature numbers of a LETOR file to the columns of a model.

LightGBM uses the number itself as the column when it trains from a file, so a file numbered from 1
yields a model with an unused column 0. Most other readers subtract 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from everycell.base.arrays import FloatArray

#: Largest share of documents that may deviate from the median of a column without a range.
_MAX_DEVIATING = 0.1
_RANGE = re.compile(r"\[([^:\]]+):([^:\]]+)\]")


def first_number(values: FloatArray, columns: int, infos: Sequence[str] = ()) -> int | None:
    """Feature number of a model's first column, 0 or 1; None if both are possible."""
    candidates = [first for first in (0, 1) if _fits(values, first, columns, infos)]
    if not candidates:
        raise ValueError(
            f"its features, up to number {values.shape[1] - 1}, do not fit the {columns} columns "
            "of the model, whether they are numbered from 0 or from 1: give the file that belongs "
            "to the model, or set --numbered-from"
        )
    return candidates[0] if len(candidates) == 1 else None


def _fits(values: FloatArray, first: int, columns: int, infos: Sequence[str]) -> bool:
    if values[:, :first].any() or values[:, first + columns :].any():
        return False
    for column, info in enumerate(infos):
        number = first + column
        feature = values[:, number] if number < values.shape[1] else np.zeros(len(values))
        if info == "none":
            # The feature was constant in training, or could not split a leaf (feature_pre_filter).
            if np.mean(feature != np.median(feature)) > _MAX_DEVIATING:
                return False
        elif (bounds := _RANGE.fullmatch(info)) and not feature.any():
            low, high = float(bounds[1]), float(bounds[2])
            if low > 0 or high < 0:
                return False
    return True
