"""Distinct queries of both sets, and the relevance judgements of each set."""

from pathlib import Path

from everycell.collections.msmarco import merge_query_sets, read_judgements, read_query_set
from everycell.jobs.job import Job

with Job(snakemake) as job:
    sets = {
        name: read_query_set(name, Path(snakemake.input[name])) for name in snakemake.params.sets
    }
    for name, queries in sets.items():
        qrels = read_judgements(Path(snakemake.input.judgements), queries)
        judged = qrels["query"].nunique()
        job.log.write(f"{name}: {len(queries)} queries, {judged} of them with judgements\n")
        job.write_frame(qrels, f"qrels_{name}")
    job.write_frame(merge_query_sets(sets), "queries")
