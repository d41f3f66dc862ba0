"""Table C.5: number of clusters of nuggets."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.sizes import cluster_sizes, half_shares

with ResultJob(snakemake) as job:
    nuggets = pd.read_parquet(snakemake.input.nuggets)
    clusters = pd.read_parquet(snakemake.input.clusters)
    job.write_table(cluster_sizes(nuggets, clusters))
    job.write_supplement(
        half_shares(nuggets, clusters),
        "halves",
        {"half of the nuggets": 2, "clusters": 2, "clusters of half": 2, "questions": 0},
    )
