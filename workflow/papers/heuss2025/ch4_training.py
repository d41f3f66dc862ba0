"""The ranker of Figure 4.4."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.explain.training import train_forest
from everycell.jobs.job import Job


def train(job: Job) -> None:
    """Train a LambdaRank model with LightGBM's defaults."""
    model = train_forest(pd.read_parquet(job.input.train), job.params.seed)
    write_atomically(Path(job.output.model), model.encode())
