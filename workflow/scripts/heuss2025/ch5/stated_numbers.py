"""Numbers in the text that follow from Table 5.2 or from each other."""

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch5.stated_numbers import derived_numbers

with ResultJob(snakemake) as job:
    table, stated = (job.input_cells(f"heuss2025/{name}") for name in ("table_5_2", "text_5_5"))
    numbers = stated.set_index("claim")["value"].astype(float)
    job.write_table(derived_numbers(table, numbers.to_dict()))
