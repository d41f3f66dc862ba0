"""Cluster the nuggets of each question."""

import pandas as pd

from everycell.jobs.job import Job
from everycell.studies.lajewska2025.ch6.stages import cluster_nuggets

with Job(snakemake) as job:
    nuggets = pd.read_parquet(snakemake.input.nuggets)
    vectors = pd.read_parquet(snakemake.input.vectors).set_index("text")["vector"]
    job.write_frame(
        cluster_nuggets(nuggets, vectors, seed=snakemake.params.cluster_seed), "clusters"
    )
