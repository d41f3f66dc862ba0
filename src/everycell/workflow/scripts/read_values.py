"""Read a table of values that were computed elsewhere."""

import pandas as pd

from everycell.engine.result_job import ResultJob

with ResultJob(snakemake) as job:
    path = snakemake.input.values
    keys = pd.read_csv(path, nrows=0).columns.drop("value")
    values = pd.read_csv(path, dtype=dict.fromkeys(keys, str), keep_default_na=False)
    job.write_table(values[[*keys, "value"]])
