"""BM25 with the best parameters on validation queries, by grid search."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import judgements, listed_pairs
from everycell.jobs.job import Job
from everycell.retrieval.judged_lists import search_grid
from everycell.retrieval.lucene import Index
from everycell.retrieval.ranking_functions import BM25
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    settings = snakemake.params
    queries = (
        pd.read_parquet(snakemake.input.queries)
        .set_index("query_id")["terms"]
        .str.split()
        .to_dict()
    )
    candidates = pd.read_parquet(snakemake.input.candidates)
    validation = {"setting": settings.setting, "split": "validation"}
    lists = {task: judgements(candidates, task=task, **validation) for task in settings.tasks}
    pairs = pd.concat(lists.values()).drop_duplicates(["query", "document"])
    with Index(Path(snakemake.input.index)) as index:

        def rank(k1: float, b: float) -> pd.DataFrame:
            """Run of BM25 with these parameters on the validation lists."""
            return index.score_pairs(queries, pairs, BM25(k1=k1, b=b))

        points = {name: settings.grid[name] for name in ("k1", "b")}
        best, grid = search_grid(rank, points, lists, settings.measure)
        scored = listed_pairs(candidates, splits=["test", "validation"])
        write_run(
            index.score_pairs(queries, scored, BM25(**best)),
            Path(snakemake.output.run),
            tag=f"bm25_k1={best['k1']}_b={best['b']}",
        )
    grid.to_csv(snakemake.output.grid, index=False)
