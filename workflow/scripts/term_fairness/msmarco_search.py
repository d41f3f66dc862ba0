"""Top passages of an index for every query: by words, impacts or vectors."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.retrieval.java import start_java
from everycell.retrieval.prebuilt import (
    read_encoded_queries,
    search_impacts,
    search_vectors,
    search_words,
)
from everycell.retrieval.published_indexes import fetched_index
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    # The remaining memory is for the parts of the index that Lucene maps, and for Python.
    start_java(snakemake.resources.mem_mb // 3)
    table = pd.read_parquet(snakemake.input.queries)
    queries = dict(zip(table["query_id"], table["text"], strict=True))
    options = {"hits": snakemake.params.hits, "threads": snakemake.threads}
    if fetched := snakemake.input.get("fetched"):
        folder = fetched_index(Path(fetched))
    else:
        folder = Path(snakemake.input.get("index") or snakemake.params.index)
    if snakemake.params.kind == "text":
        run = search_words(folder, queries, **snakemake.params.bm25, **options)
    else:
        search = search_impacts if snakemake.params.kind == "impacts" else search_vectors
        run = search(folder, read_encoded_queries(snakemake.input.encoded, queries), **options)
    answered = run["query"].nunique()
    job.log.write(f"{len(run)} passages for {answered} of {len(queries)} queries\n")
    for name, out in snakemake.output.items():
        ids = table.loc[table[name], "query_id"]
        write_run(run[run["query"].isin(ids)], out, tag=snakemake.params.ranker)
