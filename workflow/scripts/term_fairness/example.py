"""Two lists of four documents, each with one gendered word, and what measures say."""

from everycell.engine.result_job import ResultJob
from everycell.retrieval.fairness_figures import documents_in_lists
from everycell.studies.term_fairness.example import (
    GROUPS,
    drawn_example,
    example_cells,
    example_measures,
)

with ResultJob(snakemake) as job:
    taus = snakemake.params.taus
    printed = job.input_cells(snakemake.params.printed)
    values = example_measures(printed, taus)
    figure = documents_in_lists(*drawn_example(printed, values), GROUPS)
    job.write_figure(example_cells(printed, values, taus[0]), figure)
    values = values.rename(columns={"measure": "metric"})
    job.write_beside(values, "measures", dict.fromkeys(values["metric"], 3))
