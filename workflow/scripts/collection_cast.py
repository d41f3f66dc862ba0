"""The CAsT passages as a collection to search, and its folds: one for each cross-fitted model."""

from pathlib import Path

from job import Job

from everycell.collections.cast_passages import (
    SETTINGS,
    cast_benchmark,
    in_fold,
    read_cast_passages,
    topic_folds,
)

with Job(snakemake) as job:
    settings = snakemake.params
    collection = read_cast_passages(
        Path(snakemake.input.answerable), Path(snakemake.input.unanswerable)
    )
    benchmark = cast_benchmark(collection, relevant_from=settings.relevant_from)
    lists = benchmark.candidates
    assert settings.setting in SETTINGS
    job.write_frame(collection.documents, "documents")
    job.write_frame(benchmark.queries, "queries")
    job.write_frame(lists[lists["setting"] == settings.setting], "candidates")
    qrels = collection.qrels.set_axis(["query", "document", "relevance"], axis="columns")
    job.write_frame(qrels, "qrels")
    folds = topic_folds(collection, folds=settings.folds, seed=job.seed)
    for fold in range(settings.folds):
        split = in_fold(benchmark, folds, fold)
        judged = split.candidates
        # Trained on what was judged for the turn: elsewhere 0 may mean that nobody looked.
        judged = judged[judged["setting"] == "judged"]
        split.queries.to_parquet(snakemake.output.fold_queries[fold], index=False)
        judged.to_parquet(snakemake.output.fold_candidates[fold], index=False)
