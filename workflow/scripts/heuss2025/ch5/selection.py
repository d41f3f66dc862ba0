"""Table 5.2: citation of selected and of other documents."""

import pandas as pd

from everycell.jobs.result_job import ResultJob

with ResultJob(snakemake) as job:
    parts = [pd.read_parquet(file) for file in snakemake.input.selection]
    cells = pd.concat(parts, ignore_index=True)
    of_answerer = cells["answerer"] == snakemake.params.shown
    job.write_table(cells[of_answerer].drop(columns="answerer"))
    job.write_supplement(cells, "answerers", {"all": 0})
