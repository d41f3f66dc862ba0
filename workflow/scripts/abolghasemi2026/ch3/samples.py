"""Samples of both benchmarks for training, validating and testing estimators."""

from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import samples_to_frame
from everycell.collections.user_satisfaction import (
    CAUSE_BENCHMARK,
    FILES,
    match_counterfactuals,
    read_dialogues,
    read_samples,
    read_split,
    remove_apologies,
    split_samples,
)
from everycell.jobs.job import Job

with Job(snakemake) as job:
    files = snakemake.input
    released = read_samples(Path(files.main), CAUSE_BENCHMARK, "test")
    generated = read_samples(Path(files.generated), CAUSE_BENCHMARK, "generated")
    frames = []
    for benchmark in FILES:
        split = split_samples(
            read_dialogues(Path(files[f"{benchmark}_ratings"])),
            *(read_split(Path(files[f"{benchmark}_{part}"])) for part in ("valid", "test")),
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
