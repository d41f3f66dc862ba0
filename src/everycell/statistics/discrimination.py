"""Threshold-free measures of how well scores separate two classes, with intervals.

Definitions: the area under the ROC curve is the probability that a sample of the class has a
higher score than one without it (ties count half; Hanley and McNeil 1982). Average precision is the
mean of the precision at each sample of the class, down the ranking; samples with equal scores share
one place. Both are those of scikit-learn (`roc_auc_score`, `average_precision_score`), computed for
many weightings of the samples at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.engine.arrays import BoolArray, FloatArray


class Discrimination(NamedTuple):
    """Area under the ROC curve and average precision, 0 to 1, one for each weighting."""

    auroc: FloatArray
    average_precision: FloatArray


def discrimination(
    truth: Sequence[bool] | BoolArray,
    scores: Sequence[float] | FloatArray,
    weights: npt.NDArray[np.number] | None = None,
) -> Discrimination:
    """Measure how well scores separate a class from the rest, for each of m rows of weights.

    NaN where one of the two classes has no weight; average precision needs only the class itself.
    """
    labels, values = np.asarray(truth, dtype=bool), np.asarray(scores, dtype=float)
    drawn = np.ones((1, len(labels))) if weights is None else np.asarray(weights, dtype=float)
    if labels.shape != values.shape or drawn.shape[1:] != labels.shape or np.isnan(values).any():
        raise ValueError(
            f"There are labels of shape {labels.shape}, scores of shape {values.shape} (NaN: "
            f"{int(np.isnan(values).sum())}) and weights of shape {drawn.shape}; give one number "
            "and one label for each sample, and weightings of as many samples."
        )
    order = np.argsort(-values, kind="stable")
    ends = np.flatnonzero(np.diff(values[order], append=np.nan) != 0)
    labels, drawn = labels[order], drawn[:, order]
    hits = (drawn * labels).cumsum(axis=1)[:, ends]
    misses = (drawn * ~labels).cumsum(axis=1)[:, ends]
    at_place, missed = (np.diff(counts, axis=1, prepend=0) for counts in (hits, misses))
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs = (missed * (hits - at_place / 2)).sum(axis=1)
        auroc = pairs / (hits[:, -1] * misses[:, -1])
        precision = np.nan_to_num(hits / (hits + misses))
        average = (at_place * precision).sum(axis=1) / hits[:, -1]
    return Discrimination(auroc, average)
