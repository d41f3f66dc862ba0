"""Documents and queries of a collection as one ranker sees them."""

from pathlib import Path

import numpy as np
import pandas as pd

from everycell.engine.job import Job
from everycell.learning import tilde, tildev2
from everycell.learning.expansion import expand
from everycell.learning.models import (
    dense_vectors,
    device,
    load_model,
    one_thread,
    splade_weights,
)
from everycell.retrieval.encoded import Encoded, read_encoded, write_encoded

HEADS = {"dense": "encoder", "tilde": "masked-lm", "splade": "masked-lm"}

with Job(snakemake) as job:
    one_thread()
    kind, length = snakemake.params.kind, snakemake.params.length
    documents = pd.read_parquet(snakemake.input.documents)
    queries = pd.read_parquet(snakemake.input.queries).query("split != 'train'")
    queries = queries.drop_duplicates("query_id")
    texts, query_texts = list(documents["text"]), list(queries["text"])
    model, tokenizer = load_model(job.folder_of("model"), HEADS.get(kind, "tildev2"))
    model.to(device())
    stop = tilde.stop_ids(tokenizer)
    proposed = None
    terms = tilde.query_terms(tokenizer, query_texts, snakemake.params.query_length, stop)
    if kind == "tilde":
        columns = np.unique(terms.indices)
        # Of a document only what stands in a query is kept, here and for SPLADE.
        proposals = min(snakemake.params.proposals, model.config.vocab_size)
        found, proposed = tilde.encode(
            model, tokenizer, texts, length, columns, proposals=proposals
        )
        parts = ("likelihoods", found, terms[:, columns])
    elif kind == "splade":
        seen = splade_weights(model, tokenizer, query_texts, length)
        columns = np.unique(seen.indices)
        found = splade_weights(model, tokenizer, texts, length, columns=columns)
        parts = ("term_weights", found, seen[:, columns])
    elif kind == "dense":
        found = dense_vectors(model, tokenizer, texts + query_texts, length)
        parts = ("vectors", found[: len(texts)], found[len(texts) :])
    else:
        given = texts
        if "tilde" in snakemake.input.keys():
            likely = read_encoded(Path(snakemake.input.tilde)).proposed
            likely = likely[:, : int(snakemake.wildcards.m)]
            expanded = expand(tokenizer, texts, likely, length, stop, own=snakemake.params.own)
            given = expanded.sequences
            new_terms = {"found": expanded.found, "added": expanded.added}
            pd.DataFrame({"document_id": documents["document_id"], **new_terms}).to_csv(
                snakemake.output.new_terms, index=False
            )
        found = tildev2.encode(model, tokenizer, given, length, stop)
        parts = ("term_weights", found, terms)
    ids = list(documents["document_id"]), list(queries["query_id"])
    write_encoded(Encoded(*parts, *ids, proposed), Path(snakemake.output.vectors))
