"""Runs of lexical rankers: on the candidates if there are any, otherwise from a search."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import listed_pairs
from everycell.jobs.job import Job
from everycell.retrieval.lucene import Index
from everycell.retrieval.ranking_functions import BM25, Dirichlet, JelinekMercer
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    settings = snakemake.params
    queries = (
        pd.read_parquet(snakemake.input.queries)
        .set_index("query_id")["terms"]
        .str.split()
        .to_dict()
    )
    # Lazy, because a job has only the parameters of the rankers whose runs it writes.
    rankers = {
        "bm25": lambda: BM25(**settings.bm25),
        "lm": lambda: JelinekMercer(settings.jelinek_mercer),
        "lm_dirichlet": lambda: Dirichlet(settings.dirichlet),
    }
    with Index(Path(snakemake.input.index)) as index:
        for name, out in snakemake.output.items():
            ranker = rankers[name]()
            if snakemake.input.get("candidates"):
                candidates = pd.read_parquet(snakemake.input.candidates)
                pairs = listed_pairs(candidates, splits=["test", "validation"])
                run = index.score_pairs(queries, pairs, ranker)
            else:
                run = index.search(queries, ranker, settings.hits)
            write_run(run, Path(out), tag=name)
