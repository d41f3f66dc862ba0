"""Section 3.4: whether any difference is significant, by kind of comparison (paired t-tests)."""

import pandas as pd

from everycell.jobs.result_job import ResultJob

with ResultJob(snakemake) as job:
    tests = pd.concat(
        pd.read_csv(path, dtype={"cast_year": "str"}) for path in snakemake.input.tests
    )
    tests = tests.query("metric == 'p_paired'")
    keys = ["comparison", "cast_year", "measure"]
    smallest = tests.groupby(keys, sort=False)["value"].min()
    cells = (smallest < snakemake.params.alpha).map({True: "yes", False: "no"}).reset_index()
    # The two years have recall at different cut-offs.
    measure = cells.pop("measure").str.replace(r"^R@\d+$", "recall", regex=True)
    cells["metric"] = measure + " significant"
    job.write_table(cells[["comparison", "cast_year", "metric", "value"]])
