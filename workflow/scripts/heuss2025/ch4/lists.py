"""Figures 4.2 and 4.B.1: attributions of complete lists ranked by the biased model."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch4.attribution_bars import draw_bars, select_attributions
from everycell.studies.heuss2025.ch4.attributions import WITH_BASE
from everycell.studies.heuss2025.ch4.talent_search import LIST_FIGURES

with ResultJob(snakemake) as job:
    queries = LIST_FIGURES[snakemake.wildcards.number]
    lists = pd.read_parquet(snakemake.input.lists)
    lists = lists[(lists["model"] == "biased") & (lists["candidates"] == "Table 4.A.1")]
    points = select_attributions(lists[["query", "explainer", "feature", "value"]], queries)
    choices = select_attributions(
        pd.read_parquet(snakemake.input.choices), queries, ["RankingSHAP"]
    )
    shapley = choices[choices["choice"] == WITH_BASE].drop(columns="choice")
    job.write_figure(points, draw_bars(points, "explainer", ["query"], shapley))
    for name in ("choices", "spread"):
        job.write_supplement(
            select_attributions(pd.read_parquet(snakemake.input[name]), queries), name, {"all": 3}
        )
