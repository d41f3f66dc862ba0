"""Section 3.4: relative changes between rows of Tables 3.3 and 3.4, for both years."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.retrieval.significance import change_ranges
from everycell.studies.lajewska2025.ch3.measures import published_changes

with ResultJob(snakemake) as job:
    settings = snakemake.params
    variants, stages = (
        pd.read_csv(path, dtype={"cast_year": "str"}) for path in snakemake.input.tables
    )
    stages["row"] = stages["r1_rewriter"] + ", " + stages["r2_rewriter"]
    cells = pd.concat([variants, stages])
    # The two years have recall at different cut-offs.
    cells["metric"] = cells["metric"].str.replace(r"^(R@\d+|Recall)$", "recall", regex=True)
    cells["system"] = cells["cast_year"] + " " + cells["row"]
    means = cells[cells["metric"].isin(["recall", "NDCG@3"])].pivot(
        index="system", columns="metric", values="value"
    )
    pairs = {
        name: [(settings.systems[a], settings.systems[b]) for a, b in listed]
        for name, listed in settings.comparisons.items()
    }
    # The last pair of rewriters is compared with all others.
    *further_stages, last_stage = settings.stages
    pairs["one rewriter per stage"] = [(last_stage, stage) for stage in further_stages]
    ranges = change_ranges(
        means,
        {
            name: [(f"{year} {a}", f"{year} {b}") for year in settings.years for a, b in listed]
            for name, listed in pairs.items()
        },
    )
    job.write_table(published_changes(ranges, settings.ranges))
