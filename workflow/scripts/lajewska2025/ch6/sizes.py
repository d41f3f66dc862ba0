"""Tables C.4 and C.5: how many nuggets and clusters there are, and how people's are found again."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.sizes import cluster_sizes, halves, nugget_sizes

with ResultJob(snakemake) as job:
    nuggets = pd.read_parquet(snakemake.input.nuggets)
    clusters = pd.read_parquet(snakemake.input.clusters)
    job.write_table(nugget_sizes(nuggets))
    agreed = pd.read_parquet(snakemake.input.agreement)
    keys = ["detection", "reference", "metric", "value"]
    job.write_beside(agreed[keys], "agreement", {"precision": 2, "recall": 2, "F1": 2})
    job.write_table(cluster_sizes(nuggets, clusters), artefact="table_C_5")
    job.write_beside(
        halves(nuggets, clusters),
        "halves",
        {"half of the nuggets": 2, "clusters": 2, "clusters of half": 2, "questions": 0},
    )
