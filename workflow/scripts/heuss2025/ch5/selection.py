"""Table 5.2: whether what was selected is cited."""

import pandas as pd

from everycell.engine.result_job import ResultJob

with ResultJob(snakemake) as job:
    parts = [pd.read_parquet(file) for file in snakemake.input.selection]
    found = pd.concat(parts, ignore_index=True)
    shown = found["answerer"] == snakemake.params.shown
    job.write_table(found[shown].drop(columns="answerer"))
    job.write_beside(found, "answerers", {"all": 0})
