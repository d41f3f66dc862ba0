"""BM25 runs with and without feedback for the queries of each rewriter."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.retrieval.lucene import Index
from everycell.retrieval.ranking_functions import BM25, Rm3
from everycell.text.tokenise import tokeniser
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    settings = snakemake.params
    frame = pd.read_parquet(snakemake.input.queries)
    frame["terms"] = list(tokeniser(settings.tokens, None)(list(frame["text"])))
    queries = {
        rewriter: dict(zip(part["query_id"], part["terms"], strict=True))
        for rewriter, part in frame.groupby("rewriter")
    }
    with Index(Path(snakemake.input.index)) as index:
        for (rewriter, ranker), out in zip(settings.runs, snakemake.output.runs, strict=True):
            feedback = Rm3(**settings.rm3[ranker]) if ranker in settings.rm3 else None
            run = index.search(
                queries[rewriter], BM25(**settings.bm25[ranker]), settings.hits, feedback=feedback
            )
            write_run(run, Path(out), tag=Path(out).stem)
