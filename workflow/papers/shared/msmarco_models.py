"""Query encoders and cross-encoders on MS MARCO."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import texts_by_id
from everycell.collections.msmarco import read_passages
from everycell.jobs.job import Job
from everycell.learning import query_encoders
from everycell.learning.cross_encoder import PairLength, score_in_parts, score_pairs
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.retrieval.prebuilt import (
    deepimpact_query,
    read_encoded_queries,
    write_encoded_queries,
)
from everycell.text.tagged_gender_swap import gender_swapper
from everycell.trec.runs import read_run, write_run


def encode_queries(job: Job) -> None:
    """Queries in the format of a published index: encoded here, or read from a file."""
    kind, encoder_files = job.params.kind, list(job.input.get("encoder", []))
    table = pd.read_parquet(job.input.queries)
    queries = dict(zip(table["query"], table["text"], strict=True))
    if not encoder_files:
        vectors = map(deepimpact_query, queries.values())
    elif encoder_files[0].endswith(".jsonl"):
        vectors = read_encoded_queries(encoder_files[0], queries).values()
    else:
        use_one_thread()
        model, tokenizer = query_encoders.load_encoder(job.folder_of("encoder"), kind)
        texts = list(queries.values())
        vectors = query_encoders.encode_queries(model.to(device()), tokenizer, kind, texts)
    write_encoded_queries(job.output.vectors, queries, vectors)


def rerank(job: Job) -> None:
    """Re-rank BM25's passages with a cross-encoder."""
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    model, tokenizer = load_model(job.folder_of("model"), "classifier")
    model.to(device())
    table = pd.read_parquet(job.input.queries)
    queries = texts_by_id(table, "query")
    lists = pd.concat([read_run(Path(path)) for path in job.input.candidates])
    # A query may be in several sets.
    lists = lists.drop_duplicates(["query", "document"])[["query", "document"]]
    texts = read_passages(Path(job.input.collection), set(lists["document"]))
    if job.params.swapped:
        swap = gender_swapper(job.input.get("tagger"))
        texts = {passage: swap(text) for passage, text in texts.items()}
    # Truncation as in sentence-transformers; MS MARCO pairs are rarely truncated at all.
    length = PairLength(job.params.pair, "longest_first")
    score = partial(score_pairs, model, tokenizer, queries, texts, length=length)
    run = score_in_parts(lists, score)
    for name, out in job.output.items():
        set_queries = table.loc[table[name], "query"]
        write_run(run[run["query"].isin(set_queries)], Path(out), tag=job.wildcards.reranker)
