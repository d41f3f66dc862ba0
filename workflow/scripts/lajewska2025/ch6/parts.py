"""Table 6.8: mean V_strict of GINGER by clustering and ranking, with tests against the standard."""

from pathlib import Path

import pandas as pd

from everycell.collections.nugget_labels import PARTS, read_nugget_labels
from everycell.engine.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.nuggets import (
    MEAN,
    NAMES,
    TEST_DECIMALS,
    changed,
    judged,
    means,
    tested,
    with_mean,
)

#: What is changed of BERTopic and DuoT5 -> clustering and ranking.
CHANGES = {
    "BM25 for DuoT5": ("BERTopic", "BM25"),
    "LSA for BERTopic": ("LSA", "DuoT5"),
    "both": ("LSA", "BM25"),
}
#: The standard system with fewer passages, which Table 6.7 has.
SMALLER_INPUT = "GINGER-top10 wo/ rewriting"

with ResultJob(snakemake) as job:
    labels = read_nugget_labels(*map(Path, snakemake.input.labels))
    scores = with_mean(judged(labels, labels.nuggets))
    scores = scores[scores["judge"] == MEAN]
    by_run = means(scores).set_index("run")["value"]
    runs = {parts: NAMES[run] for parts, run in PARTS.items()}
    keys = pd.DataFrame(list(runs), columns=["clustering", "ranking"])
    cells = keys.assign(metric=f"V_strict {MEAN}", value=[by_run[run] for run in runs.values()])
    job.write_table(cells)

    standard, *others = runs.values()
    differences = tested(scores, [(run, standard) for run in others])
    table = keys.iloc[1:].reset_index(drop=True).join(differences[list(TEST_DECIMALS)])
    job.write_beside(
        table.melt(["clustering", "ranking"], list(TEST_DECIMALS), "metric"),
        "tests",
        TEST_DECIMALS,
    )
    changes = {name: (runs[parts], standard) for name, parts in CHANGES.items()}
    changes |= {"10 passages for 20": (SMALLER_INPUT, standard)}
    job.write_beside(
        changed(scores, changes), "changes", {"difference": 3, "low": 3, "high": 3, "p": 4}
    )
