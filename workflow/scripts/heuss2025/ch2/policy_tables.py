"""Tables 2.2 and 2.3: policies for the top ten ranks and for full rankings."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.records.spread import SEEDS, summarise_seeds
from everycell.studies.heuss2025.ch2.policy_tables import (
    PUBLISHED_METRICS,
    mark_cells,
    mean_cells,
    run_cells,
    select_readings,
    significance_cells,
)
from everycell.studies.heuss2025.ch2.ranked_lists import METRICS

with ResultJob(snakemake) as job:
    params, number = snakemake.params, snakemake.wildcards.number
    measures = pd.concat(map(pd.read_parquet, snakemake.input), ignore_index=True)
    tests = significance_cells(measures, number)
    values = mean_cells(measures, number, PUBLISHED_METRICS)
    paired = mark_cells(values, tests, "p paired", params.alpha)
    job.write_table(select_readings(paired, params.readings))
    decimals = {"all": 3, "EE-L": 2}
    unpaired = mark_cells(values, tests, "p unpaired", params.alpha)
    job.write_supplement(unpaired, "epochs", decimals)
    job.write_supplement(tests, "tests", {"all": 4})
    runs = select_readings(run_cells(measures, number, PUBLISHED_METRICS), params.readings)
    keys = [column for column in runs if column not in ("run", "value")]
    job.write_supplement(summarise_seeds(runs, keys), SEEDS, {"all": 4})
    formula = mean_cells(measures, number, METRICS[5:])
    job.write_supplement(formula, "formula", {"all": 3})
