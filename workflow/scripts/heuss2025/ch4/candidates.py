"""Figures 4.3, 4.B.3 and 4.B.4: attributions of single candidates, listwise and pointwise."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.studies.heuss2025.ch4.shown import OF_CANDIDATES, bars, shown

with ResultJob(snakemake) as job:
    queries, explainers = OF_CANDIDATES[snakemake.wildcards.number]
    points = shown(pd.read_parquet(snakemake.input.candidates), queries, explainers)
    panel = ["query", "explainer"] if len(explainers) > 1 else ["query"]
    job.write_figure(points, bars(points, "candidate", panel))
