"""Queries in the format of a published index: encoded here, or read from a file."""

import pandas as pd

from everycell.jobs.job import Job
from everycell.retrieval.prebuilt import (
    deepimpact_query,
    read_encoded_queries,
    write_encoded_queries,
)

with Job(snakemake) as job:
    kind, encoder_files = snakemake.params.kind, list(snakemake.input.get("encoder", []))
    table = pd.read_parquet(snakemake.input.queries)
    queries = dict(zip(table["query_id"], table["text"], strict=True))
    if not encoder_files:
        vectors = map(deepimpact_query, queries.values())
    elif encoder_files[0].endswith(".jsonl"):
        vectors = read_encoded_queries(encoder_files[0], queries).values()
    else:
        # Imported here, since DeepImpact does not need torch.
        from everycell.learning.models import device, use_one_thread
        from everycell.learning.query_encoders import encode_queries, load_encoder

        use_one_thread()
        model, tokenizer = load_encoder(job.folder_of("encoder"), kind)
        vectors = encode_queries(model.to(device()), tokenizer, kind, list(queries.values()))
    write_encoded_queries(snakemake.output.vectors, queries, vectors)
