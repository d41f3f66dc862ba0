"""Table 5.1: time, workers and cost of annotating a passage."""

import pandas as pd

from everycell.collections.snippet_files import read_annotations, read_tasks
from everycell.collections.snippets import count_annotations
from everycell.dialogue.effort import mean_effort, passage_effort
from everycell.engine.result_job import ResultJob
from everycell.studies.lajewska2025.annotations import GROUPS, paths

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
            # The step before: selecting the sentences of a passage.
            steps.append(read_tasks(paths(files[group.replace("sentence", "selection")])))
        whole = passage_effort(steps[0], people, *steps[1:])
        by_topic = [step.groupby(step["turn_id"].str.partition("_")[0]) for step in steps]
        topics = mean_effort(
            [
                passage_effort(tasks, people, *(step.get_group(topic) for step in by_topic[1:]))
                for topic, tasks in by_topic[0]
            ]
        )
        rows.append((name, task, "median_time_s", whole.seconds))
        readings += [
            (name, task, "seconds, both topics at once", whole.seconds),
            (name, task, "seconds, mean of the topics' medians", topics.seconds),
        ]
        if name in fees:
            cost = whole.reward * (1 + fees[name])
            rows.append((name, task, "cost_usd", cost))
            readings += [
                (name, task, "USD with the fee", cost),
                (name, task, "USD without the fee", whole.reward),
            ]
    keys = ["row", "task_variant", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=keys))
    readings = pd.DataFrame(readings, columns=keys)
    job.write_beside(
        readings,
        "readings",
        {metric: 2 if metric.startswith("USD") else 1 for metric in readings["metric"]},
    )
