"""Collections of chapter 2 of abolghasemi2026, from released files and installed packages."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from papers.abolghasemi2026 import ch2_pydocs as pydocs
from papers.abolghasemi2026.ch2_query_by_example import (
    PACKAGES,
    cacm_query_by_example,
    read_cacm_issues,
    read_cacm_links,
)
from papers.abolghasemi2026.ch2_scidocs import read_scidocs
from papers.abolghasemi2026.ch2_test_collections import ad_hoc_task, read_collection


def collection_pydocs(job: Job) -> None:
    """Documents, queries and candidate lists of pydocs, built from the installed packages."""
    sizes = job.params.sizes
    collection = pydocs.build({name: PACKAGES[name] for name in sizes["packages"]})
    pydocs.check(collection)
    options = {"test": sizes["test"], "validation": sizes["validation"], "seed": job.params.seed}
    short_options = options | {"test": sizes["known_items"], "validation": sizes["known_items"]}
    benchmarks = [
        pydocs.query_by_example(collection, **options),
        pydocs.known_item_search(collection, **short_options),
    ]
    job.write_frame(collection.documents[["document_id", "text"]], "documents")
    for part in ("queries", "candidates"):
        parts = [getattr(benchmark, part) for benchmark in benchmarks]
        job.write_frame(pd.concat(parts, ignore_index=True), part)


def collection_cacm(job: Job) -> None:
    """Query by example on CACM: documents, queries and candidate lists, from its links."""
    files = {part: Path(job.input[part]) for part in ("documents", "topics", "qrels")}
    collection = read_collection("cacm", **files)
    benchmark = cacm_query_by_example(
        collection,
        read_cacm_links(files["documents"]),
        read_cacm_issues(files["documents"]),
        min_words=job.params.min_words,
        seed=job.params.seed,
        **job.params.sizes,
    )
    job.write_frame(collection.documents[["document_id", "text"]], "documents")
    job.write_frame(benchmark.queries, "queries")
    job.write_frame(benchmark.candidates, "candidates")


def collection_ad_hoc(job: Job) -> None:
    """Documents, queries and qrels of a classic ad-hoc collection."""
    name = job.wildcards.collection
    files = {part: Path(job.input[part]) for part in ("documents", "topics", "qrels")}
    search = ad_hoc_task(name, read_collection(name, **files))
    job.write_frame(search.documents, "documents")
    job.write_frame(search.topics.assign(task=name, split="test"), "queries")
    job.write_frame(search.qrels, "qrels")


def collection_scidocs(job: Job) -> None:
    """Documents, queries and candidate lists of SciDocs, from its published files."""
    folder = Path(job.input.metadata).parent
    collection = read_scidocs(folder, seed=job.params.seed, **job.params.choices)
    job.log.write(f"{len(collection.documents)} documents\n")
    left_out = collection.left_out.groupby(["task", "reason"]).size()
    job.facts["lines_left_out"] = {" / ".join(key): int(n) for key, n in left_out.items()}
    job.write_frame(collection.documents, "documents")
    job.write_frame(collection.benchmark.queries, "queries")
    job.write_frame(collection.benchmark.candidates, "candidates")


def ranked_scidocs(job: Job) -> None:
    """Test and validation lists of a model's task, or of all tasks."""
    candidates = pd.read_parquet(job.input.candidates)
    candidates = candidates[
        candidates["task"].isin(job.params.tasks) & (candidates["split"] != "train")
    ]
    documents = pd.read_parquet(job.input.documents)
    queries = pd.read_parquet(job.input.queries)
    job.write_frame(candidates, "candidates")
    job.write_frame(
        documents[documents["document_id"].isin(candidates["document_id"])], "documents"
    )
    job.write_frame(queries[queries["query"].isin(candidates["query"])], "queries")
