"""Table 5.2: whether what was selected is cited."""

import pandas as pd

from everycell.engine.result_job import ResultJob

with ResultJob(snakemake) as job:
    found = pd.read_parquet(snakemake.input.selection)
    shown = found["answerer"] == snakemake.params.shown
    job.write_table(found[shown].drop(columns="answerer"))
    job.write_beside(found, "answerers", {"all": 0})
