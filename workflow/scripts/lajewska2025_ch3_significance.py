"""Section 3.4: of each kind of comparison, whether a paired t-test finds any difference."""

import pandas as pd
from job import Job

with Job(snakemake) as job:
    tests = pd.concat(map(pd.read_csv, snakemake.input.tests)).query("metric == 'p_paired'")
    least = tests.groupby(["comparison", "measure"], sort=False)["value"].min()
    found = (least < snakemake.params.alpha).map({True: "yes", False: "no"}).reset_index()
    measures = {"R@500": "recall significant", "NDCG@3": "NDCG@3 significant"}
    found["metric"] = found.pop("measure").map(measures)
    job.write_table(found.assign(cast_year="2021")[["comparison", "cast_year", "metric", "value"]])
