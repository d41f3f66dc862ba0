"""Measures of estimators of user satisfaction, and counts implied by published measures.

There are two classes: satisfied (true) and dissatisfied (false). Precision, recall and F1 are macro
averages over both classes, in percent. A class that is never predicted has precision 0, and a class
without samples has recall 0, as in scikit-learn (`zero_division=0`).

Source: abolghasemi2026, sections 3.5 and 3.6.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from everycell.base.errors import DataError
from everycell.base.text_files import read_json_lines
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
    truth, predictions = np.asarray(satisfied, dtype=bool), np.asarray(predicted, dtype=bool)
    correct = truth == predictions
    masks = (truth & correct, truth & ~correct, ~truth & correct, ~truth & ~correct)
    return Confusion._make(int(np.sum(mask)) for mask in masks)


def scores(counts: Confusion) -> Scores:
    """Accuracy, and macro averages of precision, recall and F1, in percent."""
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
    published: Mapping[str, float], satisfied: int, dissatisfied: int
) -> list[Confusion]:
    """All counts of correct and wrong predictions that fit measures in percent.

    A measure fits if it differs by less than `UNIT`, which allows both rounded and truncated
    values. Accuracy must be among the measures. The counts are sorted by the number of
    correct predictions, then by that of correctly predicted dissatisfied samples.
    """
    if not all(map(math.isfinite, published.values())):
        raise DataError(column="published", value=dict(published), expected="finite percentages")
    total = satisfied + dissatisfied
    fitting = []
    for correct in range(total + 1):
        if abs(100 * correct / total - published["accuracy"]) >= UNIT:
            continue
        for count in range(max(0, correct - satisfied), min(correct, dissatisfied) + 1):
            counts = Confusion(
                correct - count, satisfied - correct + count, count, dissatisfied - count
            )
            measured = scores(counts)._asdict()
            if all(abs(measured[name] - value) < UNIT for name, value in published.items()):
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
        raise DataError(
            column="solved samples", fault="have the same id twice", fix="remove the duplicate"
        )
    union = originals | rewritten
    return len(originals & rewritten) / len(union) if union else float("nan")


def dissatisfaction_steps(
    satisfied: int, dissatisfied: int, available: int, *, step: int = 5
) -> list[Step]:
    """Dissatisfied samples to add for each share, starting at the current share (L821)."""
    total = satisfied + dissatisfied
    steps = [Step(100 * dissatisfied / total, 0)]
    for percent in range(step, 100, step):
        # Smallest number with (dissatisfied + added) / (total + added) >= percent / 100.
        added = -((100 * dissatisfied - percent * total) // (100 - percent))
        if 0 < added <= available:
            steps.append(Step(percent, added))
    return steps


def _share(part: int, total: int) -> float:
    return part / total if total else 0.0


#: Default name of the estimator.
ESTIMATOR = "all"


class Prediction(BaseModel):
    """A line of a file of predictions (see docs/user-satisfaction.md)."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    id: Annotated[str, Field(min_length=1)]
    satisfied: bool
    predicted: bool
    estimator: Annotated[str, Field(min_length=1)] = ESTIMATOR


def read_predictions(path: Path) -> list[Prediction]:
    """Read predictions from a file of JSON lines."""
    predictions: dict[tuple[str, str], Prediction] = {}
    for number, line in read_json_lines(path, Prediction, "docs/user-satisfaction.md"):
        key = (line.estimator, line.id)
        if key in predictions:
            raise DataError(
                path,
                number,
                "id",
                line.id,
                "which occurs twice",
                fix="keep one prediction per estimator",
            )
        predictions[key] = line
    return list(predictions.values())


def satisfaction_report(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """Measures of each estimator on samples, counterfactuals and both together."""
    rows = []
    for estimator in dict.fromkeys(prediction.estimator for prediction in predictions):
        own = [prediction for prediction in predictions if prediction.estimator == estimator]
        main = [prediction for prediction in own if not prediction.id.endswith(COUNTERFACTUAL)]
        rewritten = [prediction for prediction in own if prediction.id.endswith(COUNTERFACTUAL)]
        main_ids = {prediction.id for prediction in main}
        for prediction in rewritten:
            if prediction.id.removesuffix(COUNTERFACTUAL) not in main_ids:
                raise DataError(
                    row=f"estimator {estimator}",
                    column="counterfactual",
                    value=prediction.id,
                    fault="whose original is missing",
                    fix="add the original or correct the id",
                )
        sets = {"main": main} | ({"counterfactual": rewritten, "mixed": own} if rewritten else {})
        for name, samples in sets.items():
            counts = confusion(
                [prediction.satisfied for prediction in samples],
                [prediction.predicted for prediction in samples],
            )
            overlap = math.nan
            if name == "mixed":
                overlap = jaccard(_solved_ids(main), _solved_ids(rewritten))
            rows.append(
                {"estimator": estimator, "set": name, "samples": len(samples)}
                | {"dissatisfied": sum(not prediction.satisfied for prediction in samples)}
                | scores(counts)._asdict()
                | {"jaccard": overlap}
            )
    return pd.DataFrame(rows)


def _solved_ids(predictions: Sequence[Prediction]) -> list[str]:
    return [
        prediction.id for prediction in predictions if prediction.satisfied == prediction.predicted
    ]
