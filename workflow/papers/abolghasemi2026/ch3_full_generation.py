"""Counterfactuals of all test samples, chapter 3 of abolghasemi2026, full tier."""

from __future__ import annotations

import pandas as pd

from everycell.collections.satisfaction_samples import Sample, samples_from_frame
from everycell.jobs.job import Job
from papers.abolghasemi2026.ch3_counterfactuals import rewritings_frame
from papers.abolghasemi2026.ch3_generation import pick_samples, rewrite_by_model


def generate_all(job: Job) -> None:
    """Rewritten last utterances of the test samples of both benchmarks."""
    frame = pd.read_parquet(job.input.samples)
    main = frame[frame["part"] == "main"]
    picked = picked_samples(main, samples=job.params.samples, seed=job.params.seed)
    job.write_frame(rewritings_frame(rewrite_by_model(job, picked)), "generated")


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
