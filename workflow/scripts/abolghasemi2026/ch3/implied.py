"""Text 3.6: values implied by the published rows of Table 3.6 and the sizes of Table 3.5."""

from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch3.implied import implied_cells, implied_counts

with ResultJob(snakemake) as job:
    rows = job.input_cells("abolghasemi2026/table_3_6")
    sizes = job.input_cells("abolghasemi2026/table_3_5")
    job.write_table(implied_cells(implied_counts(rows, sizes)))
