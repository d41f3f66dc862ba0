"""Train a LambdaRank model with LightGBM's defaults."""

from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.explain.training import train_forest
from everycell.jobs.job import Job

with Job(snakemake) as job:
    model = train_forest(pd.read_parquet(snakemake.input.train), job.seed)
    write_atomically(Path(snakemake.output.model), model.encode())
