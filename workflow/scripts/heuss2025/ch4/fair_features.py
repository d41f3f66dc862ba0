"""Lists of papers of TREC Fair Ranking, by their features."""

from everycell.collections.fair_ranking_lists import FEATURES, read_fair_lists
from everycell.engine.job import Job

with Job(snakemake) as job:
    for part in ("train", "test"):
        lists = read_fair_lists(snakemake.input[part])[["query", "relevance", *FEATURES]]
        # Lists of one query stand together, in the order of the file.
        lists = lists.sort_values("query", kind="stable").astype({"query": str})
        job.write_frame(lists.astype({"relevance": float}), part)
