"""Encode the documents and queries of a collection with a ranker."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import texts_by_id
from everycell.jobs.job import Job
from everycell.learning.models import set_gpu_precision, use_one_thread
from everycell.learning.rankers import get_ranker
from everycell.retrieval.encoded import write_encoded

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    queries = pd.read_parquet(snakemake.input.queries).query("split != 'train'")
    encoded = get_ranker(snakemake.params.kind).encode(
        job.folder_of("model"),
        texts_by_id(pd.read_parquet(snakemake.input.documents), "document_id"),
        texts_by_id(queries, "query_id"),
        snakemake.params.input_options,
    )
    write_encoded(encoded, Path(snakemake.output.vectors))
