"""BM25 with and without feedback (RM3), on the candidate lists."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import listed_pairs
from everycell.jobs.job import Job
from everycell.retrieval.lucene import Index
from everycell.retrieval.ranking_functions import BM25, Rm3
from everycell.trec.runs import restrict_run, write_run

with Job(snakemake) as job:
    queries = (
        pd.read_parquet(snakemake.input.queries)
        .set_index("query_id")["terms"]
        .str.split()
        .to_dict()
    )
    pairs = listed_pairs(pd.read_parquet(snakemake.input.candidates), splits=["test"])
    ranker = BM25(**snakemake.params.bm25)
    with Index(Path(snakemake.input.index)) as index:
        write_run(
            index.score_pairs(queries, pairs, ranker), Path(snakemake.output.bm25), tag="bm25"
        )
        # Feedback needs a ranking of the entire collection.
        hits = index.statistics().documents
        run = index.search(queries, ranker, hits, feedback=Rm3(**snakemake.params.rm3))
    # A search returns no score for documents without any term of the expanded query.
    run = restrict_run(run, pairs, missing=0.0, outside="drop")
    write_run(run, Path(snakemake.output.rm3), tag="bm25+rm3")
