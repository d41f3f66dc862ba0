"""Table 5.4: length and number of snippets in the data set."""

from everycell.collections.snippet_files import read_annotations
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch5.snippet_tables import snippet_lengths
from papers.lajewska2025.annotations import PER_PASSAGE, paths

with ResultJob(snakemake) as job:
    annotations = read_annotations(paths(snakemake.input.dataset), per_text=PER_PASSAGE)
    cells, readings = snippet_lengths(annotations)
    job.write_table(cells)
    job.write_supplement(readings, "readings", {"tokens": 2})
