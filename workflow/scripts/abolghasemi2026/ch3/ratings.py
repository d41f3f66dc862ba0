"""Table 3.1: ratings of the users' utterances; rules that make one of several; how raters agree."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_satisfaction import FILES, read_dialogues
from everycell.engine.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch3.data import (
    AGREEMENT,
    BEHIND_3_2,
    collect_ratings,
    counts_by_rule,
    rater_agreement,
)

with ResultJob(snakemake) as job:
    published = job.input_cells("abolghasemi2026/table_3_1").astype({"value": int})
    rules, raters = [], []
    for benchmark in FILES:
        ratings = collect_ratings(read_dialogues(Path(snakemake.input[f"{benchmark}_ratings"])))
        stated = published[published["dataset"] == benchmark].set_index("row")["value"]
        rules.append(counts_by_rule(ratings, stated.to_dict()).assign(dataset=benchmark))
        raters.append(rater_agreement(ratings).assign(dataset=benchmark))
    beside = pd.concat(rules)[["dataset", "rule", "metric", "value"]]
    used_rule = beside[(beside["rule"] == BEHIND_3_2) & (beside["metric"] != "away from print")]
    table = used_rule.rename(columns={"metric": "row"}).assign(metric="count")
    job.write_table(table[["row", "dataset", "metric", "value"]])
    job.write_supplement(beside, "rules", dict.fromkeys(beside["metric"], 0))
    job.write_supplement(
        pd.concat(raters)[["dataset", "scale", "metric", "value"]], "raters", AGREEMENT
    )
