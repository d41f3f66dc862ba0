"""Table 5.1: time, workers and cost of annotating a passage."""

import pandas as pd

from everycell.collections.snippets import count_annotations, read_annotations, read_tasks
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch5.snippet_tables import effort_rows
from papers.lajewska2025.annotations import GROUPS, paths

with ResultJob(snakemake) as job:
    files, fees = snakemake.input, snakemake.params.fees
    rows, readings = [], []
    for group, (task, name, people) in GROUPS.items():
        counts = count_annotations(read_annotations(paths(files[group])))
        rows.append((name, task, "n_workers", counts.per_text))
        if name == "Prolific":
            continue
        steps = [read_tasks(paths(files[group]))]
        if task == "Sentence":
            # In the preceding step, workers select the sentences of a passage.
            steps.append(read_tasks(paths(files[group.replace("sentence", "selection")])))
        for published, metric, value in effort_rows(steps, people, fees.get(name)):
            (rows if published else readings).append((name, task, metric, value))
    keys = ["row", "task_variant", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=keys))
    readings = pd.DataFrame(readings, columns=keys)
    job.write_supplement(
        readings,
        "readings",
        {metric: 2 if metric.startswith("USD") else 1 for metric in readings["metric"]},
    )
