"""Figure 4.B.2: attributions of lists ranked by the unbiased model."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch4.attribution_bars import draw_bars, select_attributions

with ResultJob(snakemake) as job:
    lists = pd.read_parquet(snakemake.input.lists)
    lists = lists[lists["model"] == "unbiased"].sort_values(
        "query", key=lambda names: names.map(names.unique().tolist().index), kind="stable"
    )
    columns = ["query", "candidates", "explainer", "feature", "value"]
    points = select_attributions(lists[columns], None)
    job.write_figure(points, draw_bars(points, "explainer", ["query", "candidates"], columns=2))
