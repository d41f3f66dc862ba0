"""Lucene index of tokenised documents."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.retrieval.lucene import build_index


def index(job: Job) -> None:
    """Index the terms of each document."""
    documents = pd.read_parquet(job.input.documents)
    terms = documents["terms"].str.split()
    built = build_index(
        zip(documents["document_id"], terms, strict=True),
        Path(job.output.index),
        term_vectors=job.params.term_vectors,
    )
    job.log.write(f"{built}\n")
