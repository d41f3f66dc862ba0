"""Table 3.1: the fairest setting of each method within a maximum loss of utility."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch3.operating_points import operating_cells

with ResultJob(snakemake) as job:
    cells, binary = (
        operating_cells(
            pd.read_parquet(path), snakemake.params.losses, snakemake.params.significance
        )
        for path in (snakemake.input.measures, snakemake.input.binary)
    )
    job.write_table(cells)
    job.write_supplement(binary, "binary", {"all": 3})
