"""Read a table of values that were computed elsewhere, and average them over seeds."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.records.cells import DESCRIPTION, SEEDS, STATISTIC, summarise_seeds

with ResultJob(snakemake) as job:
    # The origin of these values is `given`, since they were computed elsewhere.
    job.facts["given"] = True
    path, params = snakemake.input.values, snakemake.params
    names = pd.read_csv(path, nrows=0).columns.drop("value")
    values = pd.read_csv(path, dtype=dict.fromkeys(names, str), keep_default_na=False)
    if params.mean_over:
        keys = [name for name in names if name not in (params.mean_over, *DESCRIPTION)]
        spreads = summarise_seeds(values, keys)
        job.write_supplement(spreads, SEEDS, {"all": 4})
        means = spreads[spreads[STATISTIC] == "mean"]
        deviations = spreads[spreads[STATISTIC] == "standard deviation"]
        if params.deviations:
            deviations = deviations[deviations["metric"].isin(params.deviations)]
            deviations = deviations.assign(metric=deviations["metric"] + " ±")
            means = pd.concat([means, deviations])
        index = pd.MultiIndex.from_frame(means[keys])
        values = means[~index.isin([tuple(key) for key in params.left_out])]
        values = values.astype({"value": float})
        names = keys
    job.write_table(values[[*names, "value"]])
