"""Table 5.2: agreement of the annotators in each group."""

import pandas as pd

from everycell.dialogue.spans import mean_jaccard
from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.annotations import (
    GROUPS,
    agreement_gaps,
    mark_texts,
    read_group,
)

with ResultJob(snakemake) as job:
    rows = []
    for group, (task, name, people) in GROUPS.items():
        texts = mark_texts(read_group(snakemake.input[group], group), group)
        rows.append((name, task, str(people), "J", mean_jaccard(texts)))
        rows += [
            (name, task, str(people), f"J_{k}", mean_jaccard(texts, k))
            for k in range(people - 1, 1, -1)
        ]
    table = pd.DataFrame(rows, columns=["row", "task", "n_annotators", "metric", "value"])
    job.write_table(table)
    job.write_supplement(
        agreement_gaps(table, "MTurk master", "MTurk regular"), "gaps", {"J": 3, "J_2": 3}
    )
