"""Table 3.4: share of generated utterances that flip the label, with intervals."""

import pandas as pd
from job import Job
from statsmodels.stats.proportion import proportion_confint

#: Label of the originals -> that of their confirmed counterfactuals.
FLIPPED = {"Satisfaction": "Dissatisfaction", "Dissatisfaction": "Satisfaction"}

with Job(snakemake) as job:
    sizes = pd.read_csv(snakemake.input.sizes)
    counts = sizes.set_index(["dataset", "collection", "row"])["value"]
    rows, intervals = [], []
    for label in (*FLIPPED, "Overall"):
        before, after = (label, FLIPPED[label]) if label in FLIPPED else ("Total", "Total")
        for dataset in sizes["dataset"].unique():
            n, kept = counts[dataset, "Main", before], counts[dataset, "CF", after]
            low, high = proportion_confint(kept, n, method="wilson")
            rows.append((label, dataset, "CSS", 100 * kept / n))
            values = {"samples": n, "flipped": kept, "low": 100 * low, "high": 100 * high}
            intervals += [(label, dataset, metric, value) for metric, value in values.items()]
    columns = ["row", "dataset", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=columns))
    job.write_beside(
        pd.DataFrame(intervals, columns=columns),
        "intervals",
        {"samples": 0, "flipped": 0, "low": 1, "high": 1},
    )
