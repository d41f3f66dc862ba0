"""Predictions of satisfaction estimators in chapter 3 of abolghasemi2026, and their tables.

*Predictions* are a frame with one row per sample and training run: `benchmark`, `part` (such as
"main" or "cf"), `id`, `satisfied` (the label), `model`, `setup`, `seed` (number of the training
run), `probability` (of dissatisfaction) and `predicted` (whether the estimator predicts
satisfaction, see `add_labels`). The id of a counterfactual is that of its original followed by
"-cf".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from everycell.metrics.satisfaction import (
    Confusion,
    confusion,
    dissatisfaction_steps,
    jaccard,
    scores,
)
from papers.abolghasemi2026.ch3_training import AUGMENTED

#: Test sets of Table 3.6, with the parts that each contains.
TEST_SETS = {"Main": ("main",), "CF": ("cf",), "Mixed": ("main", "cf")}
#: Measures as published.
MEASURES = ("Acc", "P", "R", "F1")
ESTIMATOR = ["benchmark", "model", "setup"]
#: Suffix of a model trained with counterfactuals, where setups are not shown.
WITH = " + counterfactuals"


def add_labels(predictions: pd.DataFrame) -> pd.DataFrame:
    """Add the predicted label of each sample; a missing probability counts as a wrong label."""
    has_probability = predictions["probability"].notna()
    return predictions.assign(
        predicted=(predictions["probability"] <= 0.5).where(
            has_probability, ~predictions["satisfied"]
        )
    )


def number_trainings(frames: Iterable[pd.DataFrame], trainings: int) -> Iterator[pd.DataFrame]:
    """Number training runs whose predictions are in separate files."""
    for number, frame in enumerate(frames):
        yield frame if trainings == 1 else frame.assign(seed=number % trainings)


def confusions(predictions: pd.DataFrame) -> pd.DataFrame:
    """Correct and wrong predictions of each training run on each test set."""
    rows = []
    for names, group in predictions.groupby([*ESTIMATOR, "seed"], sort=False):
        benchmark, model, setup, seed = names
        for test_data, parts in TEST_SETS.items():
            samples = group[group["part"].isin(parts)]
            if set(parts) <= set(group["part"]):
                counts = confusion(samples["satisfied"].tolist(), samples["predicted"].tolist())
                rows.append((benchmark, test_data, model, setup, seed, *counts))
    columns = ["benchmark", "test_data", "model", "setup", "seed", *Confusion._fields]
    return pd.DataFrame(rows, columns=columns)


def measure_confusions(counts: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and macro precision, recall and F1 of each row of `confusions`, in percent."""
    keys = [column for column in counts.columns if column not in Confusion._fields]
    values = [
        scores(Confusion(*map(int, row)))
        for row in counts[list(Confusion._fields)].itertuples(index=False)
    ]
    wide = counts[keys].assign(
        **dict(zip(MEASURES, map(list, zip(*values, strict=True)), strict=True))
    )
    return wide.melt(id_vars=keys, value_vars=list(MEASURES), var_name="metric")


def select_setups(predictions: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Best setup of each model by F1 on the validation samples, which no table shows."""
    validation = predictions["part"] == "valid"
    table = (
        measure_confusions(confusions(predictions[validation].assign(part="main")))
        if validation.any()
        else None
    )
    best: dict[tuple[str, str], str] = {}
    for names, rows in predictions.groupby(["benchmark", "model"], sort=False):
        setups = rows.loc[rows["part"] == "valid", "setup"].unique()
        if not len(setups) or table is None:
            [best[names]] = rows["setup"].unique()
            continue
        model_table = table[(table[["benchmark", "model"]] == list(names)).all(axis=1)]
        means = (
            model_table[model_table["metric"] == "F1"].groupby("setup", sort=False)["value"].mean()
        )
        best[names] = means.idxmax()
    return best


def overlaps(predictions: pd.DataFrame) -> list[float]:
    """Jaccard similarity of correct predictions to originals and counterfactuals, by run."""
    values = []
    for _, rows in predictions.groupby("seed"):
        correct = rows[rows["satisfied"] == rows["predicted"]]
        values.append(
            jaccard(*(correct.loc[correct["part"] == part, "id"] for part in ("main", "cf")))
        )
    return values


def overlap_rows(predictions: pd.DataFrame) -> pd.DataFrame:
    """Overlaps of models of `select_predictions` by training run; NaN if nothing is correct."""
    rows = [
        (model, benchmark, "JSI", value)
        for (benchmark, model, _), group in predictions.groupby(ESTIMATOR, sort=False)
        for value in overlaps(group)
    ]
    return pd.DataFrame(rows, columns=["row", "dataset", "metric", "value"])


def mean_overlaps(rows: pd.DataFrame) -> pd.DataFrame:
    """Cells of Table 3.7: means over the training runs, if all have a value."""
    keys = ["row", "dataset", "metric"]
    means = rows.groupby(keys, sort=False)["value"].agg(lambda values: np.mean(values.to_numpy()))
    return means.dropna().reset_index()


def curves_by_estimator(predictions: pd.DataFrame, *, orders: int, seed: int) -> pd.DataFrame:
    """Points of Figures 3.4 and 3.5 for each estimator of `select_predictions`."""
    return pd.concat(
        curve_by_dissatisfied_share(rows, orders=orders, seed=seed).assign(
            **dict(zip(ESTIMATOR, names, strict=True))
        )
        for names, rows in predictions.groupby(ESTIMATOR, sort=False)
    )


def curve_by_dissatisfied_share(
    predictions: pd.DataFrame, *, orders: int, seed: int
) -> pd.DataFrame:
    """Measures by share of dissatisfied counterfactuals (Figures 3.4 and 3.5)."""
    rows = []
    for number, (_, training) in enumerate(predictions.groupby("seed")):
        main, cf = (training[training["part"] == part] for part in ("main", "cf"))
        base = confusion(main["satisfied"].tolist(), main["predicted"].tolist())
        is_right = ~cf.loc[~cf["satisfied"], "predicted"].to_numpy(dtype=bool)
        steps = dissatisfaction_steps(
            base.satisfied_right + base.satisfied_wrong,
            base.dissatisfied_right + base.dissatisfied_wrong,
            len(is_right),
        )
        for order in range(orders):
            shuffled = is_right[np.random.default_rng([seed, order]).permutation(len(is_right))]
            for percent, added in steps:
                added_right = int(shuffled[:added].sum())
                counts = base._replace(
                    dissatisfied_right=base.dissatisfied_right + added_right,
                    dissatisfied_wrong=base.dissatisfied_wrong + added - added_right,
                )
                measures = scores(counts)
                dissatisfied = counts.dissatisfied_right + counts.dissatisfied_wrong
                values = {"Acc": measures.accuracy, "F1": measures.f1}
                if dissatisfied:
                    recall = 100 * counts.dissatisfied_right / dissatisfied
                    values["recall of dissatisfaction"] = recall
                rows += [(number, order, percent, *value) for value in values.items()]
    table = pd.DataFrame(rows, columns=["seed", "order", "percent", "metric", "value"])
    groups = table.groupby(["percent", "metric"], sort=False)["value"]
    mean = groups.mean()
    # The mean and quantiles of equal values may differ in the last bit.
    low, high = groups.quantile(0.025).clip(upper=mean), groups.quantile(0.975).clip(lower=mean)
    return pd.DataFrame({"value": mean, "low": low, "high": high}).reset_index()


def spread_of_f1(measures: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Spread of macro F1 over several training runs (supplementary to Table 3.6)."""
    f1 = measures[measures["metric"] == "F1"].groupby(keys, sort=False)["value"]
    summary = pd.DataFrame(
        {
            "mean F1": f1.mean(),
            "deviation": f1.std(),
            "lowest F1": f1.min(),
            "highest F1": f1.max(),
            "trainings": f1.count(),
        }
    )
    return summary.reset_index().melt(id_vars=keys, var_name="metric").dropna(subset="value")


def select_predictions(
    predictions: pd.DataFrame, setups: dict[tuple[str, str], str]
) -> pd.DataFrame:
    """Predictions behind Table 3.7 and the figures: each estimator in its best setup (`setups`).

    An estimator trained with counterfactuals is shown separately, with the suffix `WITH`.
    """
    best = pd.Series([(*names, setup) for names, setup in setups.items()])
    names = pd.Series(
        list(zip(*(predictions[key] for key in ESTIMATOR), strict=True)), predictions.index
    )
    augmented = predictions["setup"] == AUGMENTED
    best_predictions = predictions[names.isin(best) | augmented].copy()
    best_predictions.loc[augmented, "model"] += WITH
    return best_predictions[
        best_predictions.groupby("benchmark")["part"].transform(lambda parts: "cf" in set(parts))
    ]
