"""Simulated lists whose labels depend on a few features with known weights."""

import numpy as np

from everycell.jobs.job import Job
from everycell.studies.heuss2025.ch4.planted_features import planted_features

with Job(snakemake) as job:
    rng = np.random.default_rng(job.seed)
    for part in ("train", "test"):
        job.write_frame(planted_features(snakemake.params.lists, rng), part)
