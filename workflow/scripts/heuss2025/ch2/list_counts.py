"""Table 2.1: list sizes and relevant items; a supplement counts the lists by size."""

from everycell.collections.fair_ranking_lists import read_fair_lists
from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch2.list_counts import count_lists_by_size, list_statistics

with ResultJob(snakemake) as job:
    parts = {
        tuple(name.split("_")): read_fair_lists(path) for name, path in snakemake.input.items()
    }
    job.write_table(list_statistics(parts))
    decimals = {
        "all": 0,
        "share below 40 items": 3,
        "relevant items per list of 20 items or more": 2,
    }
    job.write_supplement(count_lists_by_size(parts), "lists", decimals)
