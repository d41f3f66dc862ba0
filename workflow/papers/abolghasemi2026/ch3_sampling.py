"""Up-sampling and under-sampling of training data in chapter 3 of abolghasemi2026.

The thesis up-samples the dissatisfied class by factors from 10 to 50 and shows the best two
(section 3.5.3). It also tried to under-sample the satisfied class, without results (section 3.6.2).
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import Sample, samples_from_frame
from everycell.jobs.job import Job
from everycell.jobs.result_job import ResultJob
from papers.abolghasemi2026.ch3_predictions import (
    add_labels,
    confusions,
    measure_confusions,
    number_trainings,
)
from papers.abolghasemi2026.ch3_training import ESTIMATORS, PLAIN, Parts, Setup, predictions_for

#: Name of the setup whose training set has fewer satisfied samples.
UNDER_SAMPLING = "under-sampling"
#: Part or test set -> its metric in the table.
TESTS = {"valid": "F1, validation", "Main": "F1, Main", "CF": "F1, CF", "Mixed": "F1, Mixed"}
RANK = "rank by validation"


def under_sample(samples: Sequence[Sample], share: float, *, seed: int) -> list[Sample]:
    """All dissatisfied samples, and so many satisfied ones that the former are a share of all.

    All samples remain if the satisfied ones are too few.
    """
    satisfied = [sample for sample in samples if sample.satisfied]
    if len(satisfied) == len(samples):
        raise DataError(
            column="training samples",
            fault="have no dissatisfied one",
            fix="raise `samples` of the estimator in config.yaml",
        )
    number = _remaining(len(satisfied), len(samples) - len(satisfied), share)
    drawn = set(random.Random(f"{seed} {UNDER_SAMPLING}").sample(range(len(satisfied)), number))
    drawn_ids = {satisfied[index].id for index in drawn}
    return [sample for sample in samples if not sample.satisfied or sample.id in drawn_ids]


def _remaining(satisfied: int, dissatisfied: int, share: float) -> int:
    return min(round(dissatisfied * (1 - share) / share), satisfied)


def sampled_setups(
    parts: Parts, factors: Sequence[int], share: float, *, limit: int | None, seed: int
) -> dict[str, tuple[Setup, Parts]]:
    """Setup and samples of each way of sampling."""
    setups = {f"up-sampling x{factor}": (Setup(factor=factor), parts) for factor in factors}
    training = under_sample(parts["train"][:limit], share, seed=seed)
    return setups | {UNDER_SAMPLING: (Setup(), {**parts, "train": training})}


def train(job: Job) -> None:
    """Train an estimator on each sampling, and predict the labels of all samples."""
    from everycell.learning.models import use_one_thread

    use_one_thread()
    settings, kind = job.params, ESTIMATORS[job.wildcards.kind]

    class Estimator(kind):
        """The estimator without its baselines, which Table 3.6 has."""

        baselines = ()

    # pyrefly: ignore[bad-instantiation]  `kind` is concrete
    estimator = Estimator(
        job.folder_of("encoder") if kind.small_encoder(frozen=settings.frozen) else None,
        training=settings.training,
        sizes=settings.sizes,
        samples=settings.samples,
        frozen=settings.frozen,
    )
    out = Path(job.output.predictions)
    work = out.with_suffix(".training")
    frames = []
    for benchmark, rows in pd.read_parquet(job.input.samples).groupby("benchmark", sort=False):
        parts = {part: samples_from_frame(own) for part, own in rows.groupby("part", sort=False)}
        sampled = sampled_setups(
            parts, settings.factors, settings.share, limit=settings.samples, seed=job.params.seed
        )
        for name, (setup, own_parts) in sampled.items():
            folder = work / benchmark / name.replace(" ", "-")
            predictions = predictions_for(
                estimator, own_parts, {name: setup}, folder, seeds=1, seed=job.params.seed
            )
            frames.append(predictions.assign(benchmark=benchmark))
    job.write_frame(pd.concat(frames, ignore_index=True), "predictions")
    models = out.with_suffix(".models")
    shutil.rmtree(models, ignore_errors=True)
    os.replace(work, models)


def sampling(job: ResultJob) -> None:
    """Text 3.5.3: estimators by the sampling of their training data, ranked on validation."""
    params, files = job.params, job.input
    names = [PLAIN, *(f"up-sampling x{factor}" for factor in params.factors), UNDER_SAMPLING]
    frames = [
        *number_trainings(map(pd.read_parquet, files.trained), params.trainings),
        *number_trainings(map(pd.read_parquet, files.sampled), params.trainings),
    ]
    predictions = add_labels(pd.concat(frames, ignore_index=True))
    models = {kind.name for kind in ESTIMATORS.values()}
    predictions = predictions[predictions["setup"].isin(names) & predictions["model"].isin(models)]
    samples = pd.read_parquet(files.samples, columns=["benchmark", "part", "satisfied"])
    table = ranked_setups(macro_f1(predictions))
    shares = training_shares(samples, params.limits, params.factors, params.share)
    table = pd.concat([shares, table])
    order = {name: position for position, name in enumerate(names)}
    table = table.sort_values("setup", key=lambda column: column.map(order), kind="stable")
    table = table.sort_values("model", kind="stable").rename(columns={"benchmark": "dataset"})
    job.write_table(table[["model", "setup", "dataset", "metric", "value"]])


def macro_f1(predictions: pd.DataFrame) -> pd.DataFrame:
    """Mean macro F1 over training runs, by model, setup, benchmark and test set."""
    validation = predictions[predictions["part"] == "valid"].assign(part="main")
    tables = [
        measure_confusions(confusions(validation)).assign(test_data="valid"),
        measure_confusions(confusions(predictions[predictions["part"] != "valid"])),
    ]
    table = pd.concat(tables)
    table = table[table["metric"] == "F1"].assign(metric=lambda rows: rows["test_data"].map(TESTS))
    keys = ["model", "setup", "benchmark", "metric"]
    return table.groupby(keys, sort=False)["value"].mean().reset_index()


def ranked_setups(table: pd.DataFrame) -> pd.DataFrame:
    """Add the ranks of the up-sampling factors by F1 on validation; ties share the lowest."""
    validation = table[
        (table["metric"] == TESTS["valid"]) & table["setup"].str.startswith("up-sampling")
    ]
    ranks = validation.groupby(["model", "benchmark"])["value"].rank(ascending=False, method="min")
    return pd.concat([table, validation.assign(metric=RANK, value=ranks)])


def training_shares(
    samples: pd.DataFrame, limits: Mapping[str, int | None], factors: Sequence[int], share: float
) -> pd.DataFrame:
    """Percentage of dissatisfied samples in the training set of each setup."""
    rows = []
    for kind, limit in limits.items():
        for benchmark, part in samples[samples["part"] == "train"].groupby("benchmark", sort=False):
            labels = part["satisfied"].iloc[:limit]
            dissatisfied, satisfied = int((~labels).sum()), int(labels.sum())
            setups = {PLAIN: 1} | {f"up-sampling x{factor}": factor for factor in factors}
            shares = {
                name: factor * dissatisfied / (factor * dissatisfied + satisfied)
                for name, factor in setups.items()
            }
            remaining = _remaining(satisfied, dissatisfied, share)
            shares[UNDER_SAMPLING] = dissatisfied / (dissatisfied + remaining)
            rows += [
                (ESTIMATORS[kind].name, name, benchmark, "dissatisfied, percent", 100 * value)
                for name, value in shares.items()
            ]
    return pd.DataFrame(rows, columns=["model", "setup", "benchmark", "metric", "value"])
