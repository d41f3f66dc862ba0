"""Figure 5.7: where statements are recovered whose forged document is cited."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.studies.heuss2025.ch5.figures import case_bars
from everycell.studies.heuss2025.ch5.planted_citations import counted

with ResultJob(snakemake) as job:
    points = counted(
        pd.read_parquet(snakemake.input.outcomes), snakemake.params.of, snakemake.params.metrics
    )
    job.write_figure(points, case_bars(points))
