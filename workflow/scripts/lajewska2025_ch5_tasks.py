"""Table 5.1: time, workers and cost of annotating a passage."""

from typing import NamedTuple

import pandas as pd
from job import Job
from lajewska2025_ch5 import GROUPS, paths

from everycell.collections.snippets import count_annotations, read_annotations, read_tasks


class Effort(NamedTuple):
    """Seconds (median) and reward (USD, mean) of a task."""

    seconds: float
    reward: float


def effort(files) -> Effort:
    """What a task took."""
    tasks = read_tasks(paths(files))
    return Effort(tasks["seconds"].median(), tasks["reward"].mean())


with Job(snakemake) as job:
    files, fees = snakemake.input, snakemake.params.fees
    rows = []
    for group, (task, name, _) in GROUPS.items():
        counts = count_annotations(read_annotations(paths(files[group])))
        rows.append((name, task, "n_workers", counts.per_text))
        if name == "Prolific":
            continue
        seconds, reward = effort(files[group])
        if task == "Sentence":
            # One selection of sentences, and one task for each sentence of the passage.
            selection = files[group.replace("sentence", "selection")]
            passages = read_tasks(paths(selection))[["turn_id", "passage_id"]].drop_duplicates()
            sentences = counts.texts / len(passages)
            first = effort(selection)
            seconds = first.seconds + sentences * seconds
            reward = first.reward + sentences * reward
        rows.append((name, task, "median_time_s", seconds))
        if name in fees:
            rows.append((name, task, "cost_usd", reward * (1 + fees[name])))
    job.write_table(pd.DataFrame(rows, columns=["row", "task_variant", "metric", "value"]))
