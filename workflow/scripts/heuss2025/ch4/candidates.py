"""Figures 4.3, 4.B.3 and 4.B.4: listwise and pointwise attributions of single candidates."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch4.attribution_bars import draw_bars, select_attributions
from everycell.studies.heuss2025.ch4.talent_search import CANDIDATE_FIGURES

with ResultJob(snakemake) as job:
    queries, explainers = CANDIDATE_FIGURES[snakemake.wildcards.number]
    points = select_attributions(pd.read_parquet(snakemake.input.candidates), queries, explainers)
    panel = ["query", "explainer"] if len(explainers) > 1 else ["query"]
    columns = 2 if len(explainers) > 1 else 3
    job.write_figure(points, draw_bars(points, "candidate", panel, columns=columns))
