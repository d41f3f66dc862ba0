"""Lucene index of tokenised documents."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.retrieval.lucene import build_index

with Job(snakemake) as job:
    documents = pd.read_parquet(snakemake.input.documents)
    terms = documents["terms"].str.split()
    built = build_index(
        zip(documents["document_id"], terms, strict=True),
        Path(snakemake.output.index),
        term_vectors=snakemake.params.term_vectors,
    )
    job.log.write(f"{built}\n")
