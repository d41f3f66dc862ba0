"""Judged feature vectors from files in LETOR format, one or more per part."""

from pathlib import Path

import pandas as pd

from everycell.collections.letor import read_letor
from everycell.jobs.job import Job

with Job(snakemake) as job:
    for part in ("train", "test"):
        tables = [
            read_letor(Path(path), features=snakemake.params.features)
            for path in snakemake.input[part]
        ]
        job.write_frame(pd.concat(tables, ignore_index=True), part)
