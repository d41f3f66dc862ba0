"""A prompted language model as an estimator of user satisfaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import samples_from_frame
from everycell.dialogue.few_shot import dissatisfaction, draw_pairs, messages
from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.generation import Answer, Request
from everycell.language_models.settings import Decoding
from papers.abolghasemi2026.ch3_training import (
    FEW_SHOT,
    Estimate,
    Parts,
    SatisfactionEstimator,
    Setup,
    predictions_for,
)

#: Parts to label. Nothing is tuned, so validation samples are not needed.
TESTED = ("main", "cf")


class FewShotModel(SatisfactionEstimator):
    """A language model that is prompted with two examples and not trained."""

    in_thesis = True
    seeded = False

    def __init__(
        self,
        name: str,
        answer_all: Callable[[Sequence[Request]], Sequence[Answer]],
        decoding: Decoding,
    ) -> None:
        super().__init__()
        self.name = name
        self._answer_all = answer_all
        self._decoding = decoding

    def setups(self, available_setups: Mapping[str, Setup]) -> Mapping[str, Setup]:
        """The few-shot setup, regardless of `available_setups`."""
        return {FEW_SHOT: Setup()}

    def train(
        self, setup: Setup, parts: Parts, folder: Path, *, seed: int, training_seed: int
    ) -> Estimate:
        """Prompt the model without training; the probability is NaN if an answer has no label."""

        def estimate(dialogues: Sequence) -> list[float]:
            requests = [
                Request(prompt=messages(turns), decoding=self._decoding) for turns in dialogues
            ]
            return [dissatisfaction(answer) for answer in self._answer_all(requests)]

        return estimate


def labelled_samples(
    samples: pd.DataFrame, *, pairs: int | None, seed: int
) -> Iterator[tuple[str, Parts]]:
    """Samples of each benchmark that a language model labels, or `pairs` pairs drawn from them."""
    for benchmark, rows in samples.groupby("benchmark", sort=False):
        by_part = {part: samples_from_frame(rows[rows["part"] == part]) for part in TESTED}
        if pairs is not None:
            if not by_part["cf"]:
                continue
            drawn_parts = draw_pairs(*by_part.values(), size=pairs, seed=seed)
            by_part = dict(zip(TESTED, drawn_parts, strict=True))
        yield (
            benchmark,
            {
                "train": [],
                **{part: part_samples for part, part_samples in by_part.items() if part_samples},
            },
        )


def few_shot(job: Job) -> None:
    """Satisfaction labels of test samples by a language model prompted with two examples."""
    params, files = job.params, job.input
    with model_of_job(job.snakemake, job.log) as model:
        estimator = FewShotModel(params.name, model.answer_all, Decoding(**params.decoding))
        samples = pd.read_parquet(files.samples)
        folder = Path(job.output.predictions).parent
        rows = [
            predictions_for(estimator, parts, {}, folder, seeds=1, seed=job.params.seed).assign(
                benchmark=benchmark
            )
            for benchmark, parts in labelled_samples(
                samples, pairs=params.pairs, seed=job.params.seed
            )
        ]
    job.write_frame(pd.concat(rows, ignore_index=True), "predictions")
