"""Tables 2.2 and 2.3: policies over the first ten ranks, and over full rankings."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.studies.heuss2025.ch2.policy_tables import (
    PRINTED,
    marked,
    mean_cells,
    significance_cells,
)
from everycell.studies.heuss2025.ch2.ranked_lists import METRICS

with ResultJob(snakemake) as job:
    params, number = snakemake.params, snakemake.wildcards.number
    measures = pd.concat(map(pd.read_parquet, snakemake.input), ignore_index=True)
    tests = significance_cells(measures, number)
    cells = mean_cells(measures, number, PRINTED)
    values = cells.drop(columns="spread")
    paired = marked(values, tests, "p paired", params.alpha)
    text = paired["epochs"] == params.epochs
    job.write_table(paired[text].drop(columns="epochs"))
    decimals = {"all": 3, "EE-L": 2}
    unpaired = marked(values, tests, "p unpaired", params.alpha)
    job.write_beside(unpaired, "epochs", decimals)
    job.write_beside(tests, "tests", {"all": 4})
    spread = cells.assign(value=cells["spread"]).drop(columns="spread")
    job.write_beside(spread, "spread", {"all": 4})
    formula = mean_cells(measures, number, METRICS[5:]).drop(columns="spread")
    job.write_beside(formula, "formula", {"all": 3})
