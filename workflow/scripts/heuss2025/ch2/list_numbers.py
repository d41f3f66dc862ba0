"""Section 2.5: numbers of lists stated in the text."""

from everycell.collections.fair_ranking_lists import read_fair_lists
from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch2.list_counts import count_lists_by_size

STATED = [
    ("TREC2020", "train", "lists"),
    ("TREC2020", "test", "lists"),
    ("TREC2020", "test", "20 items or more"),
    ("TREC2019", "train", "lists"),
    ("TREC2019", "test", "lists"),
    ("TREC2019", "test", "more than 20 items"),
    ("TREC2019", "test", "10 items or more"),
]

with ResultJob(snakemake) as job:
    parts = {
        tuple(name.split("_")): read_fair_lists(path) for name, path in snakemake.input.items()
    }
    numbers = count_lists_by_size(parts).set_index(["dataset", "split", "metric"])
    job.write_table(numbers.loc[STATED].reset_index())
