"""Measures of two example lists of four documents with one gendered word each."""

from everycell.jobs.result_job import ResultJob
from everycell.retrieval.fairness_figures import documents_in_lists
from everycell.studies.term_fairness.example import (
    GROUPS,
    example_cells,
    example_measures,
    figure_frames,
)

with ResultJob(snakemake) as job:
    params = snakemake.params
    (artefact,) = params.declared
    published = job.input_cells(artefact)
    values = example_measures(published, params.taus)
    figure = documents_in_lists(*figure_frames(published, values), GROUPS)
    job.write_figure(example_cells(published, values, params.read_with), figure)
    values = values.rename(columns={"measure": "metric"})
    job.write_supplement(values, "measures", dict.fromkeys(values["metric"], 3))
