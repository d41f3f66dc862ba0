"""Figures 5.3 and 5.4: sizes of answers, and the documents that they cite."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch5.figures import size_lines

with ResultJob(snakemake) as job:
    titles = snakemake.params.titles
    parts = [pd.read_parquet(file) for file in snakemake.input.sizes]
    cells = pd.concat(parts, ignore_index=True)
    points = cells[cells["panel"].isin(titles)]
    points = points.assign(panel=points["panel"].map(titles)).reset_index(drop=True)
    points = points[["panel", "answerer", "x", "value"]]
    job.write_figure(points, size_lines(points))
