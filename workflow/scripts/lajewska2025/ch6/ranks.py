"""Rank the clusters of nuggets by relevance to the question."""

from functools import partial

import pandas as pd

from everycell.jobs.job import Job
from everycell.studies.lajewska2025.ch6.stages import rank_clusters

with Job(snakemake) as job:
    files = snakemake.input
    questions = pd.read_parquet(files.passages).groupby("topic")["question"].first()
    vectors = pd.read_parquet(files.vectors).set_index("text")["vector"]
    compare = None
    if files.get("duo"):
        from everycell.learning.t5 import load_t5, pair_scores

        compare = partial(pair_scores, *load_t5(job.folder_of("duo")))
    ranked = rank_clusters(
        pd.read_parquet(files.nuggets),
        pd.read_parquet(files.clusters),
        questions,
        vectors,
        compare,
    )
    job.write_frame(ranked, "ranks")
