"""Training and test samples of estimators for chapter 3 of abolghasemi2026."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import samples_to_frame
from everycell.jobs.job import Job
from papers.abolghasemi2026.ch3_counterfactuals import counterfactual, rewrite_by_rule
from papers.abolghasemi2026.ch3_data import (
    CAUSE_BENCHMARK,
    FILES,
    match_counterfactuals,
    read_dialogues,
    read_samples,
    read_split,
    remove_apologies,
    split_samples,
)
from papers.abolghasemi2026.ch3_planted import plant_dialogues


def samples(job: Job) -> None:
    """Samples of both benchmarks for training, validating and testing estimators."""
    files = job.input
    released = read_samples(Path(files.main), CAUSE_BENCHMARK, "test")
    generated = read_samples(Path(files.generated), CAUSE_BENCHMARK, "generated")
    frames = []
    for benchmark in FILES:
        split = split_samples(
            read_dialogues(Path(files[f"{benchmark}_ratings"])),
            read_split(Path(files[f"{benchmark}_valid"])),
            read_split(Path(files[f"{benchmark}_test"])),
            benchmark,
        )
        parts = {"train": split.train, "valid": split.valid, "main": split.test}
        if benchmark == CAUSE_BENCHMARK:
            parts |= {
                "main": released,
                "cf": match_counterfactuals(released, generated),
                "plain": [remove_apologies(sample) for sample in released],
            }
        frames += [samples_to_frame(samples).assign(part=part) for part, samples in parts.items()]
    job.write_frame(pd.concat(frames, ignore_index=True), "samples")


def planted(job: Job) -> None:
    """Dialogues with planted satisfaction, split into training, validation and test parts."""
    sizes = job.params.sizes
    numbers = {
        "train": sizes["dialogues"],
        "valid": sizes["test_dialogues"],
        "main": sizes["test_dialogues"],
    }
    frames = []
    for number, (part, dialogues) in enumerate(numbers.items()):
        planted = plant_dialogues(
            dialogues,
            dissatisfied=sizes["dissatisfied"],
            noise=sizes["noise"],
            # A different seed per part, so that parts share no dialogues.
            seed=job.params.seed + number,
        )
        frames.append(samples_to_frame(planted.samples).assign(part=part))
        if part == "main":
            generated = [
                counterfactual(rewrite_by_rule(sample, seed=job.params.seed))
                for sample in planted.samples
            ]
            frames.append(samples_to_frame(filter(None, generated)).assign(part="cf"))
            without_apology = [remove_apologies(sample) for sample in planted.samples]
            frames.append(samples_to_frame(without_apology).assign(part="plain"))
    job.write_frame(pd.concat(frames, ignore_index=True), "samples")
