"""Measures of estimators of user satisfaction, and what printed measures imply.

Two classes: satisfied (true) and dissatisfied (false). Precision, recall and F1 are means over the
two classes (macro averages), in percent as the thesis prints them; a class that is never predicted
has precision 0, and one without samples recall 0, as in scikit-learn (`zero_division=0`).

Source: abolghasemi2026, sections 3.5 and 3.6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.collections.satisfaction_samples import COUNTERFACTUAL

#: Unit of a measure with two decimals: largest error of a truncated or rounded published value.
UNIT = 0.01


class Confusion(NamedTuple):
    """Right and wrong answers by the true class."""

    satisfied_right: int
    satisfied_wrong: int
    dissatisfied_right: int
    dissatisfied_wrong: int


class Scores(NamedTuple):
    """Accuracy, and precision, recall and F1 averaged over the two classes; percent."""

    accuracy: float
    precision: float
    recall: float
    f1: float


class Step(NamedTuple):
    """A test set of an experiment in which dissatisfied samples are added.

    Attributes
    ----------
    percent
        Nominal share of dissatisfied samples.
    added
        Number of added samples.
    """

    percent: float
    added: int


def confusion(satisfied: npt.ArrayLike, predicted: npt.ArrayLike) -> Confusion:
    """Count right and wrong answers.

    Parameters
    ----------
    satisfied, predicted : sequences of n bool
        True class and prediction of the same samples; n is 1 or more.

    Raises
    ------
    ValueError
        No samples, different numbers of them, or values other than true and false.

    Examples
    --------
    >>> confusion([True, True, False], [True, False, False])
    Confusion(satisfied_right=1, satisfied_wrong=1, dissatisfied_right=1, dissatisfied_wrong=0)
    """
    truth, answers = np.asarray(satisfied), np.asarray(predicted)
    if truth.ndim != 1 or truth.shape != answers.shape or not len(truth):
        raise ValueError(
            f"There are labels of shape {truth.shape} and predictions of shape {answers.shape}; "
            "give as many predictions as labels, one or more."
        )
    for name, values in (("label", truth), ("prediction", answers)):
        if values.dtype != bool:
            raise ValueError(
                f"A {name} is {values.dtype} ({values[0]!r}); give true for satisfied and false "
                "for dissatisfied."
            )
    right = truth == answers
    parts = (truth & right, truth & ~right, ~truth & right, ~truth & ~right)
    return Confusion._make(int(np.sum(part)) for part in parts)


def scores(counts: Confusion) -> Scores:
    """Accuracy, and macro averages of precision, recall and F1.

    Examples
    --------
    An estimator that predicts "satisfied" for every sample of Main, MultiWOZ:

    >>> [round(value, 2) for value in scores(Confusion(811, 0, 0, 40))]
    [95.3, 47.65, 50.0, 48.8]
    """
    if min(counts) < 0 or not sum(counts):
        raise ValueError(
            f"The counts of answers are {tuple(counts)}; give counts of 0 or more, and one that is "
            "not 0."
        )
    classes = [
        (counts.satisfied_right, counts.satisfied_wrong, counts.dissatisfied_wrong),
        (counts.dissatisfied_right, counts.dissatisfied_wrong, counts.satisfied_wrong),
    ]
    precision = [_share(right, right + false_positives) for right, _, false_positives in classes]
    recall = [_share(right, right + missed) for right, missed, _ in classes]
    # Equal to the harmonic mean of a class's precision and recall, but without 0/0.
    f1 = [
        _share(2 * right, 2 * right + missed + false_positives)
        for right, missed, false_positives in classes
    ]
    right = counts.satisfied_right + counts.dissatisfied_right
    return Scores(100 * right / sum(counts), 50 * sum(precision), 50 * sum(recall), 50 * sum(f1))


def fitting_confusions(
    published: Mapping[str, float], satisfied: int, dissatisfied: int, *, within: float = UNIT
) -> list[Confusion]:
    """All counts of right and wrong answers that are compatible with published measures.

    Parameters
    ----------
    published
        Measures (fields of `Scores`) in percent; `accuracy` must be among them.
    satisfied, dissatisfied
        Samples of each class.
    within
        A measure fits if it differs from the published value by less than this. The default allows
        both rounded and truncated values.

    Returns
    -------
    list of Confusion
        From the fewest right dissatisfied samples to the most, for each fitting number of right
        answers.

    Raises
    ------
    ValueError
        No accuracy, an unknown measure, or no samples.

    Examples
    --------
    >>> printed = {"accuracy": 73.80, "precision": 51.56, "recall": 56.54, "f1": 48.23}
    >>> fitting_confusions(printed, 811, 40)
    [Confusion(satisfied_right=613, satisfied_wrong=198, dissatisfied_right=15, \
dissatisfied_wrong=25)]
    """
    unknown = set(published) - set(Scores._fields)
    if unknown or "accuracy" not in published:
        raise ValueError(
            f"The measures are {sorted(published)}; give accuracy and any of "
            f"{', '.join(Scores._fields[1:])}."
        )
    total = satisfied + dissatisfied
    if min(satisfied, dissatisfied) < 0 or not total:
        raise ValueError(
            f"There are {satisfied} satisfied and {dissatisfied} dissatisfied samples; give "
            "counts of 0 or more, and one that is not 0."
        )
    fitting = []
    for right in range(total + 1):
        if abs(100 * right / total - published["accuracy"]) >= within:
            continue
        for count in range(max(0, right - satisfied), min(right, dissatisfied) + 1):
            counts = Confusion(
                right - count, satisfied - right + count, count, dissatisfied - count
            )
            measured = scores(counts)._asdict()
            if all(abs(measured[name] - value) < within for name, value in published.items()):
                fitting.append(counts)
    return fitting


def jaccard(main: Collection[str], counterfactual: Collection[str]) -> float:
    """Overlap of the samples solved in original and in counterfactual form (L828), 0 to 1.

    Parameters
    ----------
    main, counterfactual
        Ids of the solved samples, each once; that of a counterfactual is its original's and "-cf".
        All samples of Main count, also those without a confirmed counterfactual: with this, most of
        the thesis' values follow from the counts that it prints elsewhere.

    Returns
    -------
    float
        Samples in both over samples in either; NaN where nothing is solved in either.

    Raises
    ------
    ValueError
        An id twice.

    Examples
    --------
    >>> jaccard(["1", "2", "3"], ["2-cf", "3-cf", "4-cf"])
    0.5
    """
    one = set(main)
    other = {name.removesuffix(COUNTERFACTUAL) for name in counterfactual}
    if len(one) != len(main) or len(other) != len(counterfactual):
        raise ValueError("An id occurs twice among the solved samples; give each once.")
    either = one | other
    return len(one & other) / len(either) if either else float("nan")


def dissatisfaction_steps(
    satisfied: int, dissatisfied: int, available: int, *, step: int = 5
) -> list[Step]:
    """Number of dissatisfied samples to add for each share, from the current share on (L821)."""
    total = satisfied + dissatisfied
    if min(satisfied, dissatisfied, available) < 0 or not total:
        raise ValueError(
            f"There are {satisfied} satisfied, {dissatisfied} dissatisfied and {available} further "
            "samples; give counts of 0 or more, and a test set with one sample or more."
        )
    if not 1 <= step <= 50:
        raise ValueError(f"The step is {step} points; give 1 to 50.")
    steps = [Step(100 * dissatisfied / total, 0)]
    for percent in range(step, 100, step):
        # (dissatisfied + added) / (total + added) is percent or more.
        added = -((100 * dissatisfied - percent * total) // (100 - percent))
        if 0 < added <= available:
            steps.append(Step(percent, added))
    return steps


def _share(part: int, total: int) -> float:
    return part / total if total else 0.0
