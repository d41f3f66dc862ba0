"""Table C.4: numbers of nuggets, and agreement with human nuggets."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.sizes import nugget_sizes

with ResultJob(snakemake) as job:
    job.write_table(nugget_sizes(pd.read_parquet(snakemake.input.nuggets)))
    agreed = pd.read_parquet(snakemake.input.agreement)
    keys = ["detection", "reference", "metric", "value"]
    job.write_supplement(agreed[keys], "agreement", {"precision": 2, "recall": 2, "F1": 2})
