"""Queries and group terms of the MS MARCO passages."""

from __future__ import annotations

from pathlib import Path

from everycell.collections.msmarco import (
    merge_query_sets,
    read_judgements,
    read_query_set,
    stream_passages,
)
from everycell.jobs.job import Job
from everycell.metrics.term_counts import count_terms
from everycell.metrics.word_lists import read_words


def queries(job: Job) -> None:
    """Distinct queries of both sets, and the relevance judgements of each set."""
    sets = {name: read_query_set(name, Path(job.input[name])) for name in job.params.sets}
    for name, queries in sets.items():
        qrels = read_judgements(Path(job.input.judgements), queries)
        judged = qrels["query"].nunique()
        job.log.write(f"{name}: {len(queries)} queries, {judged} of them with judgements\n")
        job.write_frame(qrels, f"qrels_{name}")
    job.write_frame(merge_query_sets(sets), "queries")


def counts(job: Job) -> None:
    """Count the terms of each group in every passage while streaming the collection."""
    passages = stream_passages(Path(job.input.collection), expected=job.params.passages)
    counted = count_terms(passages, read_words(job.input.words), job.output.counts)
    job.log.write(f"{counted} passages\n")
