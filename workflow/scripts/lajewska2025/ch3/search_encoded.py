"""Queries of each rewriter encoded by MiniLM and SPLADE, and the runs of both."""

from pathlib import Path

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.learning.text_vectors import dense_vectors, splade_weights
from everycell.retrieval.encoded import Encoded, read_encoded, write_encoded
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    settings = snakemake.params
    frame = pd.read_parquet(snakemake.input.queries)
    # A turn has one query per rewriter, so ids include the rewriter.
    query_ids = list(frame["rewriter"] + ":" + frame["query_id"])
    texts = list(frame["text"])
    documents = pd.read_parquet(snakemake.input.documents)
    document_ids = list(documents["document_id"])

    model, tokenizer = load_model(job.folder_of("dense"), "encoder")
    vectors = dense_vectors(model.to(device()), tokenizer, texts, settings.query)
    passages = read_encoded(Path(snakemake.input.vectors))
    encoded_queries = {
        "dense": Encoded("vectors", passages.documents, vectors, passages.document_ids, query_ids)
    }

    model, tokenizer = load_model(job.folder_of("splade"), "masked-lm")
    model.to(device())
    weights = splade_weights(model, tokenizer, texts, settings.query)
    columns = np.unique(weights.indices)
    encoded_queries["splade"] = Encoded(
        "term_weights",
        splade_weights(model, tokenizer, list(documents["text"]), settings.length, columns=columns),
        weights[:, columns],
        document_ids,
        query_ids,
    )
    for encoded, out in zip(encoded_queries.values(), snakemake.output.encoded, strict=True):
        write_encoded(encoded, Path(out))
    for (rewriter, encoder), out in zip(settings.runs, snakemake.output.runs, strict=True):
        turns = frame.loc[frame["rewriter"] == rewriter, "query_id"]
        run = encoded_queries[encoder].search(
            [f"{rewriter}:{turn}" for turn in turns], settings.hits
        )
        run["query"] = run["query"].str.partition(":")[2]
        write_run(run, Path(out), tag=Path(out).stem)
