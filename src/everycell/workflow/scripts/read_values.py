"""Read a table of values that were computed elsewhere."""

import pandas as pd

from everycell.jobs.result_job import ResultJob

with ResultJob(snakemake) as job:
    # The origin of these values is `given`, since nothing here computes them.
    job.facts["given"] = True
    path = snakemake.input.values
    keys = pd.read_csv(path, nrows=0).columns.drop("value")
    values = pd.read_csv(path, dtype=dict.fromkeys(keys, str), keep_default_na=False)
    job.write_table(values[[*keys, "value"]])
