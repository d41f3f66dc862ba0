"""Counterfactuals of all test samples, chapter 3 of abolghasemi2026, full tier."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import Sample, samples_from_frame
from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.settings import Decoding
from papers.abolghasemi2026.ch3_counterfactuals import rewritings_frame
from papers.abolghasemi2026.ch3_generation import ask, pick_samples, read_template


def generate_all(job: Job) -> None:
    """Rewritten last utterances of the test samples of both benchmarks."""
    params, files = job.params, job.input
    frame = pd.read_parquet(files.samples)
    main = frame[frame["part"] == "main"]
    picked = picked_samples(main, samples=params.samples, seed=job.params.seed)
    with model_of_job(job.snakemake, job.log) as model:
        generated = ask(
            picked,
            model.answer_all,
            template=read_template(Path(files.template)),
            decoding=Decoding(**params.decoding),
            longest=params.longest,
        )
    job.write_frame(rewritings_frame(generated), "generated")


def picked_samples(main: pd.DataFrame, *, samples: int | None, seed: int) -> list[Sample]:
    """All test samples, or a number of each label and benchmark."""
    if samples is None:
        return samples_from_frame(main)
    return [
        sample
        for _, part in main.groupby("benchmark", sort=False)
        for sample in pick_samples(
            samples_from_frame(part), satisfied=samples, dissatisfied=samples, seed=seed
        )
    ]
