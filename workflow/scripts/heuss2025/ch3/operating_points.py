"""Table 3.1: the fairest setting of each method within an allowed loss."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.studies.heuss2025.ch3.operating_points import operating_cells

with ResultJob(snakemake) as job:
    first, *others, binary = (
        operating_cells(
            pd.read_parquet(path), snakemake.params.losses, snakemake.params.significance
        )
        for path in [*snakemake.input.measures, snakemake.input.binary]
    )
    job.write_table(first[0])
    job.write_beside(first[1], "tests", {"all": 4})
    for cells, _ in others:
        job.write_beside(cells, "cross_encoder", {"all": 3})
    job.write_beside(binary[0], "binary", {"all": 3})
