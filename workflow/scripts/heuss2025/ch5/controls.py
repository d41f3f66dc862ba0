"""Figure 5.7: positions of recovered statements whose forged document is cited."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch5.figures import case_bars
from everycell.studies.heuss2025.ch5.planted_citations import case_counts

with ResultJob(snakemake) as job:
    parts = [pd.read_parquet(file) for file in snakemake.input.outcomes]
    cells = pd.concat(parts, ignore_index=True)
    points = case_counts(cells, snakemake.params.of, snakemake.params.metrics)
    job.write_figure(points, case_bars(points))
