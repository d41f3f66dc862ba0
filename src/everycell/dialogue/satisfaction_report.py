"""Measures of estimators of user satisfaction on samples and on their counterfactuals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from everycell.base.json_lines import read_json_lines
from everycell.base.untrusted import in_quotes
from everycell.collections.satisfaction_samples import COUNTERFACTUAL
from everycell.dialogue.satisfaction import confusion, jaccard, scores

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
            raise ValueError(
                f"{path}, line {number} repeats the sample {in_quotes(line.id)}; keep one "
                "prediction per estimator."
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
                raise ValueError(
                    f"The estimator {estimator!r} has the counterfactual "
                    f"{in_quotes(prediction.id)} but not its original "
                    f"{in_quotes(prediction.id.removesuffix(COUNTERFACTUAL))}; add the original or "
                    "correct the id."
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
