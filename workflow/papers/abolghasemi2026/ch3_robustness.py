"""Supplements to Table 3.6 of chapter 3 of abolghasemi2026: robustness of estimators.

An estimator that labels every sample satisfied may still rank the dissatisfied ones first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import BoolArray, FloatArray
from everycell.collections.satisfaction_samples import COUNTERFACTUAL
from everycell.metrics.satisfaction import Confusion, scores
from papers.abolghasemi2026.ch3_predictions import (
    ESTIMATOR,
    TEST_SETS,
    confusions,
    measure_confusions,
)
from papers.abolghasemi2026.ch3_training import AUGMENTED, CONTROL

#: Columns of the tables.
GAINS = ("gain in F1", "low", "high")
CUES = ("Acc", "F1", "recall of dissatisfaction")


def f1_gain(
    predictions: pd.DataFrame, other: pd.DataFrame, *, draws: int, seed: int
) -> tuple[float, float, float]:
    """Difference in macro F1 between two estimators, with a 95 % interval.

    A percentile bootstrap draws pairs of a sample and its counterfactual, the same pairs for both
    estimators. Samples that share the beginning of a dialogue count as independent, so the interval
    may be too narrow. It does not cover the variation between training runs.
    """
    keys = ["seed", "id"]
    first, second = (part.sort_values(keys, kind="stable") for part in (predictions, other))
    if first[keys].to_numpy().tolist() != second[keys].to_numpy().tolist():
        raise ValueError(
            f"{len(first)} and {len(second)} predictions: samples or training runs differ. Pass "
            "predictions of both estimators to the same test set."
        )
    trainings = first["seed"].nunique()
    weights = _pair_weights(first["id"], draws=draws, seed=seed)
    gains = np.zeros(draws + 1)
    for sign, part in ((1, first), (-1, second)):
        for _, rows in part.reset_index(drop=True).groupby("seed"):
            counted = weights[:, rows.index]
            truth, predicted = rows["satisfied"].to_numpy(), rows["predicted"].to_numpy(dtype=bool)
            cells = [
                counted[:, (truth == label) & ((predicted == label) == right)].sum(axis=1)
                for label in (True, False)
                for right in (True, False)
            ]
            f1 = [scores(Confusion(*map(int, row))).f1 for row in zip(*cells, strict=True)]
            gains += sign * np.array(f1) / trainings
    low, high = np.quantile(gains[1:], [0.025, 0.975])
    return float(gains[0]), float(low), float(high)


def _pair_weights(ids: pd.Series, *, draws: int, seed: int) -> np.ndarray:
    """Weight of each answer in each draw of pairs of a sample and its counterfactual.

    The first row counts each pair once: the observed sample.
    """
    pairs, names = pd.factorize(ids.str.removesuffix(COUNTERFACTUAL))
    dice = np.random.default_rng(seed)
    draw_counts = dice.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
    return np.vstack([np.ones(len(names), dtype=draw_counts.dtype), draw_counts])[:, pairs]


def gains(predictions: pd.DataFrame, *, draws: int, seed: int) -> pd.DataFrame:
    """Gain in macro F1 of the setup with counterfactuals over all others except the control."""
    rows = []
    for (benchmark, model), own_predictions in predictions.groupby(
        ["benchmark", "model"], sort=False
    ):
        setups = dict(list(own_predictions.groupby("setup", sort=False)))
        augmented = setups.pop(AUGMENTED, None)
        if augmented is None:
            continue
        for name, other in setups.items():
            if name.endswith(CONTROL):
                continue
            for test_data, values in _by_test_set(augmented, other, draws=draws, seed=seed):
                rows.append((test_data, model, name, benchmark, *values))
    columns = ["test_data", "model", "instead_of", "benchmark"]
    table = pd.DataFrame(rows, columns=[*columns, *GAINS])
    return table.melt(id_vars=columns, var_name="metric")


def doubling_gains(predictions: pd.DataFrame, *, draws: int, seed: int) -> pd.DataFrame:
    """Gain in macro F1 from doubling the up-sampling factor."""
    rows = []
    for (benchmark, model), own_predictions in predictions.groupby(
        ["benchmark", "model"], sort=False
    ):
        setups = dict(list(own_predictions.groupby("setup", sort=False)))
        factors = {factor: name for name in setups if (factor := up_sampling(name))}
        for factor, name in factors.items():
            if doubled := factors.get(2 * factor):
                pair = setups[doubled], setups[name]
                for test_data, values in _by_test_set(*pair, draws=draws, seed=seed):
                    rows.append((test_data, model, doubled, name, benchmark, *values))
    columns = ["test_data", "model", "setup", "instead_of", "benchmark"]
    table = pd.DataFrame(rows, columns=[*columns, *GAINS])
    return table.melt(id_vars=columns, var_name="metric")


def up_sampling(setup: str) -> int | None:
    """Factor of a setup that only up-samples, from its name; None for other setups."""
    match = re.fullmatch(r"up-sampling x(\d+)", setup)
    return int(match[1]) if match else None


def _by_test_set(
    predictions: pd.DataFrame, other: pd.DataFrame, *, draws: int, seed: int
) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """Gain on each test set for which there are predictions."""
    for test_data, parts in TEST_SETS.items():
        if set(parts) <= set(predictions["part"]):
            frames = (frame[frame["part"].isin(parts)] for frame in (predictions, other))
            yield test_data, f1_gain(*frames, draws=draws, seed=seed)


def apology_effects(predictions: pd.DataFrame) -> pd.DataFrame:
    """Measures on originals with and without apologies, and on counterfactuals."""
    sets = {"Main": "main", "Main without apologies": "plain", "CF": "cf"}
    columns = ["test_data", "model", "setup", "benchmark"]
    tested = predictions.groupby(ESTIMATOR)["part"].transform(lambda parts: "plain" in set(parts))
    tables = []
    for name, part in sets.items():
        rows = predictions[tested & (predictions["part"] == part)]
        counts = confusions(rows.assign(part="main")).assign(test_data=name)
        right, wrong = counts["dissatisfied_right"], counts["dissatisfied_wrong"]
        recall = counts.assign(metric=CUES[-1], value=100 * right / (right + wrong))
        tables += [measure_confusions(counts), recall[[*columns, "seed", "metric", "value"]]]
    table = pd.concat(tables)
    table = table[table["metric"].isin(CUES)]
    return table.groupby([*columns, "metric"], sort=False)["value"].mean().reset_index()


#: Columns of the table.
RANKED = ("accuracy", "one label", "AUROC", "low", "high", "AP", "AP by chance")


def ranking_quality(predictions: pd.DataFrame, *, draws: int, seed: int) -> pd.DataFrame:
    """Area under the ROC curve and average precision of each estimator on each test set."""
    rows = []
    for (benchmark, model, setup), own_predictions in predictions.groupby(ESTIMATOR, sort=False):
        for test_data, parts in TEST_SETS.items():
            if set(parts) <= set(own_predictions["part"]):
                test_predictions = own_predictions[own_predictions["part"].isin(parts)]
                values = _ranking_values(test_predictions, draws=draws, seed=seed)
                rows.append((test_data, model, setup, benchmark, *values))
    columns = ["test_data", "model", "setup", "benchmark"]
    table = pd.DataFrame(rows, columns=[*columns, *RANKED])
    table["test_data"] = pd.Categorical(table["test_data"], list(TEST_SETS))
    table = table.sort_values("test_data", kind="stable").astype({"test_data": str})
    return table.melt(id_vars=columns, var_name="metric").dropna(subset="value")


def _ranking_values(predictions: pd.DataFrame, *, draws: int, seed: int) -> tuple[float, ...]:
    """Values of the columns `RANKED` for one estimator in one setup, on one test set."""
    predictions = predictions.reset_index(drop=True)
    weights = _pair_weights(predictions["id"], draws=draws, seed=seed).astype(float)
    trainings = [rows for _, rows in predictions.groupby("seed")]
    results = [
        discrimination(~rows["satisfied"], rows["probability"].fillna(0.5), weights[:, rows.index])
        for rows in trainings
    ]
    auroc = 100 * np.mean([result.auroc for result in results], axis=0)
    is_correct = predictions["satisfied"] == predictions["predicted"]
    return (
        100 * is_correct.mean(),
        100 * float(np.mean([rows["predicted"].nunique() == 1 for rows in trainings])),
        float(auroc[0]),
        *np.nanquantile(auroc[1:], [0.025, 0.975]).tolist(),
        100 * float(np.mean([result.average_precision[0] for result in results])),
        100 * float((~predictions["satisfied"]).mean()),
    )


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

    Ties count half in the area under the ROC curve, and share one rank in average precision, as in
    scikit-learn, which computes one weighting at a time. NaN if a class has no weight; average
    precision needs only positive samples.
    """
    labels, values = np.asarray(truth, dtype=bool), np.asarray(scores, dtype=float)
    weightings = np.ones((1, len(labels))) if weights is None else np.asarray(weights, dtype=float)
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
