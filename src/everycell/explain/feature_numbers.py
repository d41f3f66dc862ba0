"""Which column of a model a numbered feature of a LETOR file is.

LightGBM takes the number itself as the column when it trains from a file, so that a file numbered
from 1 gives a model with an unused column 0. Most other readers subtract 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from everycell.engine.arrays import FloatArray

#: Share of documents in which a column that the model does not know may vary.
_FEW = 0.1
_RANGE = re.compile(r"\[([^:\]]+):([^:\]]+)\]")


def first_number(values: FloatArray, columns: int, infos: Sequence[str] = ()) -> int | None:
    """Number of a model's first column in a file; None where both 0 and 1 fit it.

    Examples
    --------
    >>> first_number(np.array([[0, 1.0], [0, 2.0]]), 1)
    1
    >>> first_number(np.array([[0, 1.0], [0, 2.0]]), 2, ["none", "[1:2]"])
    0
    """
    fitting = [first for first in (0, 1) if _fits(values, first, columns, infos)]
    if not fitting:
        raise ValueError(
            f"its features, up to number {values.shape[1] - 1}, fit the {columns} columns of the "
            "model neither numbered from 0 nor from 1: give the file that belongs to the model, or "
            "say --numbered-from"
        )
    return fitting[0] if len(fitting) == 1 else None


def _fits(values: FloatArray, first: int, columns: int, infos: Sequence[str]) -> bool:
    if values[:, :first].any() or values[:, first + columns :].any():
        return False
    for column, info in enumerate(infos):
        number = first + column
        numbers = values[:, number] if number < values.shape[1] else np.zeros(len(values))
        if info == "none":
            # In training it had one value, or too few others for a leaf (feature_pre_filter).
            if np.mean(numbers != np.median(numbers)) > _FEW:
                return False
        elif (bounds := _RANGE.fullmatch(info)) and not numbers.any():
            low, high = float(bounds[1]), float(bounds[2])
            if low > 0 or high < 0:
                return False
    return True
