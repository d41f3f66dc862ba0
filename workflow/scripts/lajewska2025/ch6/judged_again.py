"""Table 6.7 with the user's language models as judges, on released or on new responses."""

import json
from pathlib import Path

import pandas as pd

from everycell.collections.ginger import JUDGES, SYSTEMS, read_nugget_labels
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.creating import (
    SHARED_FACTS_DECIMALS,
    mean_nugget_scores,
    shared_facts,
)
from everycell.studies.lajewska2025.ch6.judging import strict_scores
from everycell.studies.lajewska2025.ch6.nuggets import mean_scores

with ResultJob(snakemake) as job:
    files = snakemake.input
    job.facts["language_models"] = [
        json.loads(Path(file).read_text()) for file in (*files.provenance, *files.further)
    ]
    by_judge = {}
    for path in map(Path, files.labels):
        labels = pd.read_parquet(path)
        by_judge[str(labels["judge"].iloc[0])] = labels
    # A fact without a label counts as not supported.
    job.facts["without_a_label"] = {
        name: int(((labels["nugget"] > 0) & (labels["support"] == "")).sum())
        for name, labels in by_judge.items()
    }
    table = mean_scores(strict_scores(by_judge)).rename(columns={"run": "row"})
    table["metric"] = "V_strict " + table["judge"]
    job.write_table(table.loc[table["row"].isin(SYSTEMS), ["row", "metric", "value"]])
    if files.created:
        nuggets = pd.concat(map(pd.read_parquet, files.created), ignore_index=True)
        labels = pd.concat(map(pd.read_parquet, files.assigned), ignore_index=True)
        responses = pd.read_parquet(files.responses)[["run", "topic"]]
        responses_by_judge = pd.concat(
            [responses.assign(judge=judge) for judge in nuggets["judge"].unique()],
            ignore_index=True,
        )
        scores = mean_nugget_scores(labels, responses_by_judge)
        job.write_supplement(scores, "created", dict.fromkeys(scores["metric"].unique(), 3))
        released = read_nugget_labels(*map(Path, files.released)).nuggets
        released = released.drop_duplicates(["judge", "topic", "nugget"])
        rows = [
            (judge, metric, value)
            for judge, own in nuggets.groupby("judge", sort=False)
            for metric, value in shared_facts(
                own, released[released["judge"] == JUDGES[str(judge)]]
            ).items()
        ]
        table = pd.DataFrame(rows, columns=["judge", "metric", "value"])
        job.write_supplement(table, "created_agreement", SHARED_FACTS_DECIMALS)
