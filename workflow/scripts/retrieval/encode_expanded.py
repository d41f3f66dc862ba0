"""Encode documents expanded with proposed terms, and count the new terms per document."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import texts_by_id
from everycell.jobs.job import Job
from everycell.learning.models import set_gpu_precision, use_one_thread
from everycell.learning.rankers import get_ranker
from everycell.retrieval.encoded import read_encoded, write_encoded

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    queries = pd.read_parquet(snakemake.input.queries).query("split != 'train'")
    proposed = read_encoded(Path(snakemake.input.proposals)).proposed
    encoded, new_terms = get_ranker(snakemake.params.kind).encode_expanded(
        job.folder_of("model"),
        texts_by_id(pd.read_parquet(snakemake.input.documents), "document_id"),
        texts_by_id(queries, "query_id"),
        snakemake.params.input_options,
        proposed[:, : int(snakemake.wildcards.m)],
    )
    new_terms.to_csv(snakemake.output.new_terms, index=False)
    write_encoded(encoded, Path(snakemake.output.vectors))
