"""Measures of estimators of user satisfaction, and counts implied by published measures.

There are two classes: satisfied (true) and dissatisfied (false). Precision, recall and F1 are macro
averages over both classes, in percent. A class that is never predicted has precision 0, and a class
without samples has recall 0, as in scikit-learn (`zero_division=0`).

Source: abolghasemi2026, sections 3.5 and 3.6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isfinite
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.collections.satisfaction_samples import COUNTERFACTUAL

#: Unit of the last decimal: bounds the error of a truncated or rounded published value.
UNIT = 0.01


class Confusion(NamedTuple):
    """Numbers of correct and wrong predictions, by true class."""

    satisfied_right: int
    satisfied_wrong: int
    dissatisfied_right: int
    dissatisfied_wrong: int


class Scores(NamedTuple):
    """Accuracy, and precision, recall and F1 averaged over the two classes, in percent."""

    accuracy: float
    precision: float
    recall: float
    f1: float


class Step(NamedTuple):
    """A test set with added dissatisfied samples, and their nominal percentage."""

    percent: float
    added: int


def confusion(satisfied: npt.ArrayLike, predicted: npt.ArrayLike) -> Confusion:
    """Count correct and wrong predictions of at least one sample."""
    truth, predictions = np.asarray(satisfied), np.asarray(predicted)
    if truth.ndim != 1 or truth.shape != predictions.shape or not len(truth):
        raise ValueError(
            f"There are labels of shape {truth.shape} and predictions of shape "
            f"{predictions.shape}; give one prediction per label, and at least one label."
        )
    for name, values in (("label", truth), ("prediction", predictions)):
        if values.dtype != bool:
            raise ValueError(
                f"A {name} is {values.dtype} ({values[0]!r}); give true for satisfied and false "
                "for dissatisfied."
            )
    correct = truth == predictions
    masks = (truth & correct, truth & ~correct, ~truth & correct, ~truth & ~correct)
    return Confusion._make(int(np.sum(mask)) for mask in masks)


def scores(counts: Confusion) -> Scores:
    """Accuracy, and macro averages of precision, recall and F1, in percent."""
    if min(counts) < 0 or not sum(counts):
        raise ValueError(
            f"The counts of predictions are {tuple(counts)}; give counts of 0 or more, not all 0."
        )
    classes = [
        (counts.satisfied_right, counts.satisfied_wrong, counts.dissatisfied_wrong),
        (counts.dissatisfied_right, counts.dissatisfied_wrong, counts.satisfied_wrong),
    ]
    precision = [_share(correct, correct + false) for correct, _, false in classes]
    recall = [_share(correct, correct + missed) for correct, missed, _ in classes]
    # Equal to the harmonic mean of a class's precision and recall, but without 0/0.
    f1 = [_share(2 * correct, 2 * correct + missed + false) for correct, missed, false in classes]
    accuracy = 100 * (counts.satisfied_right + counts.dissatisfied_right) / sum(counts)
    return Scores(accuracy, 50 * sum(precision), 50 * sum(recall), 50 * sum(f1))


def fitting_confusions(
    published: Mapping[str, float], satisfied: int, dissatisfied: int, *, within: float = UNIT
) -> list[Confusion]:
    """All counts of correct and wrong predictions that fit measures in percent.

    A measure fits if it differs by less than `within`; the default allows both rounded and
    truncated values. Accuracy must be among the measures. The counts are sorted by the number of
    correct predictions, then by that of correctly predicted dissatisfied samples.
    """
    unknown = set(published) - set(Scores._fields)
    if unknown or "accuracy" not in published:
        raise ValueError(
            f"The measures are {sorted(published)}; give accuracy and any of "
            f"{', '.join(Scores._fields[1:])}."
        )
    if not all(map(isfinite, published.values())):
        raise ValueError(f"A measure is not finite in {dict(published)}; give percentages.")
    total = satisfied + dissatisfied
    if min(satisfied, dissatisfied) < 0 or not total:
        raise ValueError(
            f"There are {satisfied} satisfied and {dissatisfied} dissatisfied samples; give "
            "counts of 0 or more, not both 0."
        )
    fitting = []
    for correct in range(total + 1):
        if abs(100 * correct / total - published["accuracy"]) >= within:
            continue
        for count in range(max(0, correct - satisfied), min(correct, dissatisfied) + 1):
            counts = Confusion(
                correct - count, satisfied - correct + count, count, dissatisfied - count
            )
            measured = scores(counts)._asdict()
            if all(abs(measured[name] - value) < within for name, value in published.items()):
                fitting.append(counts)
    return fitting


def jaccard(main: Collection[str], counterfactual: Collection[str]) -> float:
    """Jaccard overlap of the samples solved in original and in counterfactual form (L828).

    Parameters
    ----------
    main, counterfactual
        Distinct ids of the solved samples. The id of a counterfactual is that of its original with
        the suffix "-cf". All samples of Main count, including those without a confirmed
        counterfactual: most of the published values then follow from other published counts.

    Returns
    -------
    float
        From 0 to 1; NaN if no sample is solved in either form.

    Raises
    ------
    ValueError
        An id occurs twice.

    Examples
    --------
    >>> jaccard(["1", "2", "3"], ["2-cf", "3-cf", "4-cf"])
    0.5
    """
    originals = set(main)
    rewritten = {name.removesuffix(COUNTERFACTUAL) for name in counterfactual}
    if len(originals) != len(main) or len(rewritten) != len(counterfactual):
        raise ValueError("An id occurs twice among the solved samples; remove the duplicate.")
    union = originals | rewritten
    return len(originals & rewritten) / len(union) if union else float("nan")


def dissatisfaction_steps(
    satisfied: int, dissatisfied: int, available: int, *, step: int = 5
) -> list[Step]:
    """Dissatisfied samples to add for each share, starting at the current share (L821)."""
    total = satisfied + dissatisfied
    if min(satisfied, dissatisfied, available) < 0 or not total:
        raise ValueError(
            f"There are {satisfied} satisfied, {dissatisfied} dissatisfied and {available} "
            "additional samples; give counts of 0 or more, and a test set with at least one sample."
        )
    if not 1 <= step <= 50:
        raise ValueError(f"The step is {step} percentage points; it must be from 1 to 50.")
    steps = [Step(100 * dissatisfied / total, 0)]
    for percent in range(step, 100, step):
        # Smallest number with (dissatisfied + added) / (total + added) >= percent / 100.
        added = -((100 * dissatisfied - percent * total) // (100 - percent))
        if 0 < added <= available:
            steps.append(Step(percent, added))
    return steps


def _share(part: int, total: int) -> float:
    return part / total if total else 0.0
