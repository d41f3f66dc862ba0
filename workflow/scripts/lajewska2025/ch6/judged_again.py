"""Table 6.7 by language models of the user's, on the released responses."""

import json
from pathlib import Path

import pandas as pd

from everycell.collections.nugget_labels import SYSTEMS
from everycell.engine.result_job import ResultJob
from everycell.rag.nuggets import nugget_scores
from everycell.studies.lajewska2025.ch6.judging import compared
from everycell.studies.lajewska2025.ch6.nuggets import MEAN, NAMES, means

with ResultJob(snakemake) as job:
    job.facts["language_models"] = [
        json.loads(Path(file).read_text()) for file in snakemake.input.provenance
    ]
    by_judge = {}
    for path in map(Path, snakemake.input.labels):
        labels = pd.read_parquet(path)
        by_judge[str(labels["judge"].iloc[0])] = labels
    labels = pd.concat(by_judge.values(), ignore_index=True)
    responses = labels[["judge", "run", "topic"]].drop_duplicates()
    scores = nugget_scores(labels, responses)
    scores = scores.assign(run=scores["run"].map(NAMES))
    if len(by_judge) == 3:
        mean = scores.groupby(["run", "topic"], sort=False, as_index=False)["value"].mean()
        scores = pd.concat([scores, mean.assign(judge=MEAN)], ignore_index=True)
    table = means(scores).rename(columns={"run": "row"})
    table["metric"] = "V_strict " + table["judge"]
    job.write_table(table.loc[table["row"].isin(SYSTEMS), ["row", "metric", "value"]])
    job.write_beside(
        compared(by_judge),
        "again",
        {"facts": 0, "without a label": 3, "same label": 3, "kappa": 3},
    )
