"""Collections for measuring group bias: planted rankings, CAsT, GrepBiasIR, swapped genders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.metrics.term_counts import count_terms as count_terms_of_documents
from everycell.metrics.word_lists import read_words
from everycell.text.documents import read_documents
from everycell.text.gender_swap import swap_coverage, swap_gender
from everycell.trec.runs import write_run
from papers.shared.term_fairness_cast import (
    assign_splits,
    cast_benchmark,
    read_cast_passages,
    topic_folds,
)
from papers.shared.term_fairness_grepbias import (
    all_wordings_benchmark,
    one_wording_benchmark,
    read_grepbias,
)
from papers.shared.term_fairness_planted import plant_bias, plant_rankers


def collection_planted(job: Job) -> None:
    """Documents and rankings with planted group bias, and the expected values of measures."""
    planted = plant_bias(seed=job.params.seed, **job.params.sizes)
    rankers = [
        plant_rankers(seed=job.params.seed, effects=effects, **job.params.rankers)
        for effects in (True, False)
    ]
    documents = [part.documents for part in (planted, *rankers)]
    job.write_frame(pd.concat(documents, ignore_index=True), "documents")
    job.write_frame(planted.truth, "truth")
    lines = [f"{term},{group}\n" for group, terms in planted.words.items() for term in terms]
    Path(job.output.words).write_text("".join(lines), encoding="utf-8")
    runs = planted.runs | rankers[0].runs | rankers[1].runs
    for file in map(Path, job.output.runs):
        write_run(runs[file.stem], file, tag=file.stem)


def collection_cast(job: Job) -> None:
    """The CAsT passages as a retrieval collection, with one fold per cross-fitted model."""
    settings = job.params
    collection = read_cast_passages(Path(job.input.answerable), Path(job.input.unanswerable))
    benchmark = cast_benchmark(collection, relevant_from=settings.relevant_from)
    lists = benchmark.candidates
    job.write_frame(collection.documents, "documents")
    job.write_frame(benchmark.queries, "queries")
    job.write_frame(lists[lists["setting"] == settings.setting], "candidates")
    qrels = collection.qrels.set_axis(["query", "document", "relevance"], axis="columns")
    job.write_frame(qrels, "qrels")
    folds = topic_folds(collection, folds=settings.folds, seed=job.params.seed)
    for fold in range(settings.folds):
        split = assign_splits(benchmark, folds, fold)
        lists = split.candidates
        # The negatives include passages that are relevant to other turns. A model trained only on
        # passages judged for the same turn ranked worse than chance.
        lists = lists[lists["setting"] == "topic"]
        split.queries.to_parquet(job.output.fold_queries[fold], index=False)
        lists.to_parquet(job.output.fold_candidates[fold], index=False)


def collection_grepbias(job: Job) -> None:
    """GrepBiasIR as a retrieval collection: all texts, or all items in one wording."""
    first, *documents = map(Path, job.input)
    collection = read_grepbias(first, documents)
    wording = job.params.wording
    grepbias = (
        all_wordings_benchmark(collection, seed=job.params.seed)
        if wording is None
        else one_wording_benchmark(collection, wording, seed=job.params.seed)
    )
    texts, benchmark = grepbias
    job.write_frame(texts, "documents")
    job.write_frame(benchmark.queries, "queries")
    job.write_frame(benchmark.candidates, "candidates")
    qrels = benchmark.candidates.query("relevance > 0")[["query", "document_id", "relevance"]]
    job.write_frame(qrels.set_axis(["query", "document", "relevance"], axis="columns"), "qrels")


def collection_swapped(job: Job) -> None:
    """A collection whose documents have swapped genders, with the same queries and lists."""
    documents = pd.read_parquet(job.input.documents)
    texts = documents["text"]
    job.write_frame(documents.assign(text=texts.map(swap_gender)), "documents")
    swap_coverage(texts, read_words(job.input.words)).to_csv(job.output.coverage, index=False)
    for part in ("queries", "candidates", "qrels"):
        shutil.copyfile(job.input[part], job.output[part])


def count_terms(job: Job) -> None:
    """Count the terms of each group, and all tokens, in every document of a collection."""
    # One by one, since a collection may not fit into memory.
    documents = read_documents(job.input.documents)
    count_terms_of_documents(documents, read_words(job.input.words), job.output.counts)
