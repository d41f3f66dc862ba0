"""Table 6.8: mean V_strict of GINGER by clustering and ranking, with tests."""

from pathlib import Path

from everycell.collections.ginger import read_nugget_labels
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.nuggets import TEST_DECIMALS, add_mean, name_scores
from everycell.studies.lajewska2025.ch6.parts import parts_tables

with ResultJob(snakemake) as job:
    labels = read_nugget_labels(*map(Path, snakemake.input.labels))
    tables = parts_tables(add_mean(name_scores(labels, labels.nuggets)))
    job.write_table(tables.cells)
    job.write_supplement(tables.tests, "tests", TEST_DECIMALS)
    job.write_supplement(tables.changes, "changes", {"difference": 3, "low": 3, "high": 3, "p": 4})
