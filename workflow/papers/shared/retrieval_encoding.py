"""Documents and queries encoded by rankers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from everycell.collections.benchmark import texts_by_id
from everycell.jobs.job import Job
from everycell.learning.models import set_gpu_precision, use_one_thread
from everycell.learning.rankers import get_ranker
from everycell.retrieval.encoded import read_encoded, write_encoded


def encode(job: Job) -> None:
    """Encode the documents and queries of a collection with a ranker."""
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    queries = pd.read_parquet(job.input.queries).query("split != 'train'")
    ranker: Any = get_ranker(job.params.kind)
    encoded = ranker.encode(
        job.folder_of("model"),
        texts_by_id(pd.read_parquet(job.input.documents), "document_id"),
        texts_by_id(queries, "query"),
        job.params.input_options,
    )
    write_encoded(encoded, Path(job.output.vectors))


def encode_expanded(job: Job) -> None:
    """Encode documents expanded with proposed terms, and count the new terms per document."""
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    queries = pd.read_parquet(job.input.queries).query("split != 'train'")
    proposed: Any = read_encoded(Path(job.input.proposals)).proposed
    ranker: Any = get_ranker(job.params.kind)
    encoded, new_terms = ranker.encode_expanded(
        job.folder_of("model"),
        texts_by_id(pd.read_parquet(job.input.documents), "document_id"),
        texts_by_id(queries, "query"),
        job.params.input_options,
        proposed[:, : int(job.wildcards.m)],
    )
    new_terms.to_csv(job.output.new_terms, index=False)
    write_encoded(encoded, Path(job.output.vectors))
