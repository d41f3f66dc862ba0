"""Figure 5.6: outcomes of forged documents, and estimates of planted effects."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch5.figures import case_bars, estimate_lines
from everycell.studies.heuss2025.ch5.planted_citations import case_counts

with ResultJob(snakemake) as job:
    parts = [pd.read_parquet(file) for file in snakemake.input.outcomes]
    cells = pd.concat(parts, ignore_index=True)
    points = case_counts(cells, snakemake.params.of, snakemake.params.metrics)
    job.write_figure(points, case_bars(points))
    # The table of the figure has the counts.
    job.write_supplement(cells.drop(columns=["count", "of"]), "shares", {"all": 1})
    if "estimates" in snakemake.input.keys():
        estimated = pd.read_parquet(snakemake.input.estimates)
        job.write_figure(estimated, estimate_lines(estimated), "planted")
