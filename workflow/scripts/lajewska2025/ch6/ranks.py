"""Clusters of nuggets in the order in which they answer the question."""

import pandas as pd

from everycell.engine.job import Job
from everycell.studies.lajewska2025.ch6.stages import ranked

with Job(snakemake) as job:
    files = snakemake.input
    questions = pd.read_parquet(files.passages).groupby("topic")["question"].first()
    vectors = pd.read_parquet(files.vectors).set_index("text")["vector"]
    found = ranked(
        pd.read_parquet(files.nuggets), pd.read_parquet(files.clusters), questions, vectors
    )
    job.write_frame(found, "ranks")
