"""Table 3.1: ratings of user utterances, with rating rules and agreement."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_satisfaction import FILES, read_dialogues
from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch3.data import (
    AGREEMENT,
    BEHIND_3_2,
    collect_ratings,
    counts_by_rule,
    rater_agreement,
)

with ResultJob(snakemake) as job:
    rules, raters = [], []
    for benchmark in FILES:
        ratings = collect_ratings(read_dialogues(Path(snakemake.input[f"{benchmark}_ratings"])))
        rules.append(counts_by_rule(ratings).assign(dataset=benchmark))
        raters.append(rater_agreement(ratings).assign(dataset=benchmark))
    by_rule = pd.concat(rules)[["dataset", "rule", "metric", "value"]]
    used_rule = by_rule[by_rule["rule"] == BEHIND_3_2]
    table = used_rule.rename(columns={"metric": "row"}).assign(metric="count")
    job.write_table(table[["row", "dataset", "metric", "value"]])
    job.write_supplement(by_rule, "rules", dict.fromkeys(by_rule["metric"], 0))
    job.write_supplement(
        pd.concat(raters)[["dataset", "scale", "metric", "value"]], "raters", AGREEMENT
    )
