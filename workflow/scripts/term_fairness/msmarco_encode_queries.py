"""Queries as a published index wants them: encoded here, or taken from a file."""

from pathlib import Path

import pandas as pd

from everycell.engine.job import Job
from everycell.retrieval.query_files import (
    distinct_words,
    read_encoded_queries,
    write_encoded_queries,
)

with Job(snakemake) as job:
    kind, source = snakemake.params.kind, snakemake.params.source
    table = pd.read_parquet(snakemake.input.queries)
    queries = dict(zip(table["query_id"], table["text"], strict=True))
    if source.endswith(".jsonl"):
        vectors = read_encoded_queries(source, queries).values()
    elif kind == "words":
        vectors = map(distinct_words, queries.values())
    else:
        # Here, since DeepImpact needs no torch.
        from everycell.learning.hub import cached_folder, commit_of
        from everycell.learning.models import device, one_thread
        from everycell.learning.query_encoders import encode_queries, load_encoder

        one_thread()
        model, tokenizer = load_encoder(source, kind, network=snakemake.params.network)
        if not Path(source).is_dir() and (folder := cached_folder(source)):
            job.commits[source] = commit_of(folder)
        vectors = encode_queries(model.to(device()), tokenizer, kind, list(queries.values()))
    write_encoded_queries(snakemake.output.vectors, queries, vectors)
