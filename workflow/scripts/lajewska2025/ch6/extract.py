"""Responses in the words of passages: of each variant, and of the one-step baseline."""

import pandas as pd

from everycell.engine.job import Job
from everycell.studies.lajewska2025.ch6.stages import extracted_responses

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    found = extracted_responses(
        pd.read_parquet(files.passages),
        pd.read_parquet(files.nuggets),
        pd.read_parquet(files.clusters),
        pd.read_parquet(files.ranks),
        pd.read_parquet(files.vectors).set_index("text")["vector"],
        clusters_shown=params.clusters,
        sentences=params.sentences,
        words=params.words,
    )
    job.write_frame(found, "responses")
