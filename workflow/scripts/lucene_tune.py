"""BM25 with the parameters that rank the validation queries best, and the grid."""

from itertools import product
from pathlib import Path

import pandas as pd
from job import Job

from everycell.collections.benchmark import judgements, listed_pairs
from everycell.retrieval.evaluation import evaluate, judge
from everycell.retrieval.lucene import BM25, Index
from everycell.retrieval.runs import write_run

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
    grid = []
    with Index(Path(snakemake.input.index)) as index:
        for k1, b in product(settings.grid["k1"], settings.grid["b"]):
            run = index.score_pairs(queries, pairs, BM25(k1=k1, b=b))
            means = []
            for qrels in lists.values():
                judged = judge(qrels, qrels)
                ranked = judged.run(judged.scores(run, outside="drop"))
                means.append(evaluate(ranked, qrels, [settings.measure])[settings.measure].mean())
            grid.append((k1, b, sum(means) / len(means)))
        # The first one of the best, in the order of the grid.
        k1, b, _ = max(grid, key=lambda row: row[2])
        scored = listed_pairs(candidates, splits=["test", "validation"])
        write_run(
            index.score_pairs(queries, scored, BM25(k1=k1, b=b)),
            Path(snakemake.output.run),
            tag=f"bm25_k1={k1}_b={b}",
        )
    pd.DataFrame(grid, columns=["k1", "b", settings.measure]).to_csv(
        snakemake.output.grid, index=False
    )
