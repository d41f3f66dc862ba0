"""The CAsT passages as a retrieval collection, with one fold per cross-fitted model."""

from pathlib import Path

from everycell.collections.cast_passages import (
    assign_splits,
    cast_benchmark,
    read_cast_passages,
    topic_folds,
)
from everycell.jobs.job import Job

with Job(snakemake) as job:
    settings = snakemake.params
    collection = read_cast_passages(
        Path(snakemake.input.answerable), Path(snakemake.input.unanswerable)
    )
    benchmark = cast_benchmark(collection, relevant_from=settings.relevant_from)
    lists = benchmark.candidates
    job.write_frame(collection.documents, "documents")
    job.write_frame(benchmark.queries, "queries")
    job.write_frame(lists[lists["setting"] == settings.setting], "candidates")
    qrels = collection.qrels.set_axis(["query", "document", "relevance"], axis="columns")
    job.write_frame(qrels, "qrels")
    folds = topic_folds(collection, folds=settings.folds, seed=job.seed)
    for fold in range(settings.folds):
        split = assign_splits(benchmark, folds, fold)
        lists = split.candidates
        # The negatives include passages that are relevant to other turns. A model trained only on
        # passages judged for the same turn ranked worse than chance.
        lists = lists[lists["setting"] == "topic"]
        split.queries.to_parquet(snakemake.output.fold_queries[fold], index=False)
        lists.to_parquet(snakemake.output.fold_candidates[fold], index=False)
