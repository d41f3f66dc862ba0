"""Figure 3.2: number of documents that the document at each rank could swap with."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch3.certainty import crossing_documents
from everycell.studies.heuss2025.ch3.figures import crossing_figure
from everycell.studies.heuss2025.ch3.inputs import read_lists

with ResultJob(snakemake) as job:
    parts = []
    for path, name in zip(snakemake.input.scores, snakemake.params.names, strict=True):
        lists = read_lists(path, snakemake.input.counts, snakemake.input.qrels)
        crossings = crossing_documents(lists, snakemake.params.alphas, snakemake.params.ranks)
        parts.append(crossings.assign(ranker=name))
    columns = ["ranker", "alpha", "rank", "value", "low", "high"]
    points = pd.concat(parts, ignore_index=True)[columns]
    job.write_figure(points, crossing_figure(points))
