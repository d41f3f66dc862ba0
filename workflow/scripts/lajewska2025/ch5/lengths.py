"""Table 5.4: length and number of snippets in the data set."""

from everycell.collections.snippets import read_annotations
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch5.snippet_tables import snippet_lengths
from papers.lajewska2025.annotations import paths

with ResultJob(snakemake) as job:
    annotations = read_annotations(paths(snakemake.input.dataset))
    cells, readings = snippet_lengths(annotations)
    job.write_table(cells)
    job.write_supplement(readings, "readings", {"tokens": 2})
