"""Searches of the MS MARCO passages, in published indexes and with swapped genders."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.collections.msmarco import stream_passages
from everycell.jobs.job import Job
from everycell.retrieval.java import start_java
from everycell.retrieval.prebuilt import (
    index_texts,
    read_encoded_queries,
    search_impacts,
    search_vectors,
    search_words,
)
from everycell.retrieval.published_indexes import fetched_index
from everycell.text.tagged_gender_swap import gender_swapper
from everycell.trec.runs import write_run


def search(job: Job) -> None:
    """Top passages of an index for every query: by words, impacts or vectors."""
    # The remaining memory is for the parts of the index that Lucene maps, and for Python.
    start_java(job.snakemake.resources.mem_mb // 3)
    table = pd.read_parquet(job.input.queries)
    queries = dict(zip(table["query"], table["text"], strict=True))
    options = {"hits": job.params.hits, "threads": job.snakemake.threads}
    if fetched := job.input.get("fetched"):
        folder = fetched_index(Path(fetched))
    else:
        folder = Path(job.input.get("index") or job.params.index)
    if job.params.kind == "text":
        run = search_words(folder, queries, **job.params.bm25, **options)
    else:
        find = search_impacts if job.params.kind == "impacts" else search_vectors
        run = find(folder, read_encoded_queries(job.input.encoded, queries), **options)
    answered = run["query"].nunique()
    job.log.write(f"{len(run)} passages for {answered} of {len(queries)} queries\n")
    for name, out in job.output.items():
        ids = table.loc[table[name], "query"]
        write_run(run[run["query"].isin(ids)], out, tag=job.params.ranker)


def swapped_index(job: Job) -> None:
    """Lucene index of the passages after swapping gendered words and names."""
    start_java(job.snakemake.resources.mem_mb // 2)
    passages = stream_passages(Path(job.input.collection), expected=job.params.passages)
    swap = gender_swapper(job.input.get("tagger"))
    swapped = ((passage, swap(text)) for passage, text in passages)
    indexed = index_texts(swapped, job.output.index, threads=job.snakemake.threads)
    job.log.write(f"{indexed} passages\n")
