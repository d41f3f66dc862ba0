"""Table 6.7: V_strict of each system by three judge models, and how far the judges agree."""

import itertools
from pathlib import Path

import pandas as pd

from everycell.collections.nugget_labels import JUDGES, SYSTEMS, read_nugget_labels
from everycell.engine.result_job import ResultJob
from everycell.rag.judges import judge_agreement
from everycell.rag.nuggets import in_any_spelling, with_one_key
from everycell.studies.lajewska2025.ch6.creating import IN_COMMON_DECIMALS, shared_facts
from everycell.studies.lajewska2025.ch6.nuggets import (
    TEST_DECIMALS,
    add_mean,
    compare_runs,
    means,
    name_scores,
)

#: How labels of importance are read; the first is how the print was made.
READINGS = {
    "as spelled": lambda nuggets: nuggets,
    "any spelling": in_any_spelling,
    "one key": with_one_key,
}
AGREEMENT_DECIMALS = {
    "mean difference": 3,
    "mean absolute difference": 3,
    "pearson, responses": 3,
    "tau, responses": 3,
    "tau in a topic": 3,
    "topics": 0,
    "tau, systems": 3,
}

with ResultJob(snakemake) as job:
    labels = read_nugget_labels(*map(Path, snakemake.input.labels))
    read = {name: name_scores(labels, alter(labels.nuggets)) for name, alter in READINGS.items()}
    scores = read["as spelled"]
    table = means(add_mean(scores)).rename(columns={"run": "row"})
    table["metric"] = "V_strict " + table["judge"]
    job.write_table(table.loc[table["row"].isin(SYSTEMS), ["row", "metric", "value"]])

    agreement = pd.concat(
        judge_agreement(each).assign(importance=name) for name, each in read.items()
    )
    job.write_beside(
        agreement[["importance", "judges", "metric", "value"]], "agreement", AGREEMENT_DECIMALS
    )
    lists = labels.nuggets.drop_duplicates(["judge", "topic", "nugget"])
    rows = [
        (f"{name} in {other}", metric, value)
        for name, other in itertools.permutations(JUDGES, 2)
        for metric, value in shared_facts(
            lists[lists["judge"] == JUDGES[other]], lists[lists["judge"] == JUDGES[name]]
        ).items()
        if metric in ("found", "found by chance", "topics")
    ]
    shared = pd.DataFrame(rows, columns=["nuggets", "metric", "value"])
    job.write_beside(shared, "nuggets", IN_COMMON_DECIMALS)

    readings = pd.concat(means(add_mean(each)).assign(metric=name) for name, each in read.items())
    job.write_beside(
        readings.rename(columns={"run": "row"})[["judge", "row", "metric", "value"]],
        "readings",
        dict.fromkeys(READINGS, 3),
    )
    rewriting = pd.concat(
        compare_runs(rows, [("GINGER-top5", "GINGER-top5 wo/ rewriting")]).assign(judge=judge)
        for judge, rows in add_mean(scores).groupby("judge", sort=False)
    )
    job.write_beside(
        rewriting.melt("judge", list(TEST_DECIMALS), "metric"), "rewriting", TEST_DECIMALS
    )
