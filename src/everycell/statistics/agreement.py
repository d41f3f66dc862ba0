"""Agreement between people who label the same cases.

Cohen's kappa is computed by scikit-learn (`sklearn.metrics.cohen_kappa_score`), Fleiss' kappa by
statsmodels (`statsmodels.stats.inter_rater.fleiss_kappa`); this module adds checks and percent
agreement. A kappa is 1 for full agreement, 0 for the agreement expected by chance given the label
frequencies, and negative below that.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as _fleiss_kappa

from everycell.base.errors import DataError, require

Labels = Sequence[Any] | npt.NDArray[Any]


def percent_agreement(first: Labels, second: Labels) -> float:
    """Percentage of cases with the same label from two people, 0 to 100."""
    first_labels, second_labels = _paired_labels(first, second)
    return float(100 * np.mean(first_labels == second_labels))


def cohens_kappa(first: Labels, second: Labels) -> float:
    """Cohen's kappa between two people, -1 to 1.

    NaN if both give the same label to every case, since chance agreement is then 1.
    """
    first_labels, second_labels = _paired_labels(first, second)
    with warnings.catch_warnings():
        # scikit-learn warns about the NaN that is documented above.
        warnings.simplefilter("ignore")
        return float(cohen_kappa_score(first_labels, second_labels))


def fleiss_kappa(labels: npt.ArrayLike) -> float:
    """Fleiss' kappa of n cases by k people each, shape (n, k), -1 to 1.

    The people may differ from case to case. NaN if all labels are the same.
    """
    table = _as_objects(labels)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        expected = "a table of cases by people, with two labels or more for every case"
        raise DataError(column="labels", value=labels, expected=expected)
    _check_labels(table)
    counts, _ = aggregate_raters(np.array(table.tolist()))
    with np.errstate(invalid="ignore"):
        return float(_fleiss_kappa(counts))


def _paired_labels(first: Labels, second: Labels) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    arrays = _as_objects(first), _as_objects(second)
    shapes = [array.shape for array in arrays]
    is_paired = len(shapes[0]) == 1 and shapes[0] == shapes[1] and shapes[0][0]
    expected = "two lists of the same length, with one case or more"
    require(is_paired, "labels", (first, second), expected)
    _check_labels(np.stack(arrays))
    return np.array(arrays[0].tolist()), np.array(arrays[1].tolist())


def _as_objects(labels: npt.ArrayLike) -> npt.NDArray[Any]:
    """Labels as objects, which keep their types and missing values; ragged rows stay lists."""
    if isinstance(labels, np.ma.MaskedArray):
        objects = labels.data.astype(object)
        objects[np.ma.getmaskarray(labels)] = None
        return objects
    try:
        return np.asarray(labels, dtype=object)
    except ValueError:
        return np.empty(0, dtype=object)


def _check_labels(labels: npt.NDArray[Any]) -> None:
    """Refuse missing labels, and strings beside numbers."""
    is_text = np.array([isinstance(label, str) for label in labels.flat])
    is_missing = pd.isna(labels).ravel()
    is_missing |= np.array([isinstance(label, str) and not label.strip() for label in labels.flat])
    if is_missing.any():
        label = labels.flat[int(is_missing.argmax())]
        raise DataError(
            column="label",
            value=label,
            fault="which is missing",
            fix="give a label from every person for every case, or leave out the case",
        )
    if is_text.any() and not is_text.all():
        texts = labels.flat[int(is_text.argmax())], labels.flat[int(is_text.argmin())]
        raise DataError(column="labels", value=texts, expected="labels of one type")
