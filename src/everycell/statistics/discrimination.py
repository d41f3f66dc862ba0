"""Threshold-free measures of how well scores separate two classes.

The area under the ROC curve is the probability that a positive sample has a higher score than a
negative one (ties count half; Hanley and McNeil 1982). Average precision is the mean precision at
the ranks of the positive samples; tied samples share one rank. Both agree with scikit-learn
(`roc_auc_score`, `average_precision_score`), but are computed for many weightings of the samples at
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray


class Discrimination(NamedTuple):
    """Area under the ROC curve and average precision, 0 to 1, per weighting."""

    auroc: FloatArray
    average_precision: FloatArray


def discrimination(
    truth: Sequence[bool] | BoolArray,
    scores: Sequence[float] | FloatArray,
    weights: npt.NDArray[np.number] | None = None,
) -> Discrimination:
    """Measure how well scores separate two classes, for each row of weights.

    NaN if a class has no weight; average precision needs only positive samples.
    """
    labels, values = np.asarray(truth, dtype=bool), np.asarray(scores, dtype=float)
    weightings = np.ones((1, len(labels))) if weights is None else np.asarray(weights, dtype=float)
    if (
        labels.shape != values.shape
        or weightings.shape[1:] != labels.shape
        or np.isnan(values).any()
    ):
        raise ValueError(
            f"There are labels of shape {labels.shape}, scores of shape {values.shape} (NaN: "
            f"{int(np.isnan(values).sum())}) and weights of shape {weightings.shape}; give one "
            "label, one score and one weight per weighting for each sample."
        )
    order = np.argsort(-values, kind="stable")
    tie_ends = np.flatnonzero(np.diff(values[order], append=np.nan) != 0)
    labels, weightings = labels[order], weightings[:, order]
    hits = (weightings * labels).cumsum(axis=1)[:, tie_ends]
    misses = (weightings * ~labels).cumsum(axis=1)[:, tie_ends]
    tied_hits, tied_misses = (np.diff(counts, axis=1, prepend=0) for counts in (hits, misses))
    with np.errstate(invalid="ignore", divide="ignore"):
        ordered_pairs = (tied_misses * (hits - tied_hits / 2)).sum(axis=1)
        auroc = ordered_pairs / (hits[:, -1] * misses[:, -1])
        precision = np.nan_to_num(hits / (hits + misses))
        average_precision = (tied_hits * precision).sum(axis=1) / hits[:, -1]
    return Discrimination(auroc, average_precision)
