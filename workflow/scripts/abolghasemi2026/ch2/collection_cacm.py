"""Query by example on CACM: documents, queries and candidate lists, from its links."""

from pathlib import Path

from everycell.collections.cacm import cacm_query_by_example, read_cacm_issues, read_cacm_links
from everycell.collections.smart import read_collection
from everycell.jobs.job import Job

with Job(snakemake) as job:
    files = {part: Path(snakemake.input[part]) for part in ("documents", "topics", "qrels")}
    collection = read_collection("cacm", **files)
    benchmark = cacm_query_by_example(
        collection,
        read_cacm_links(files["documents"]),
        read_cacm_issues(files["documents"]),
        min_words=snakemake.params.min_words,
        seed=job.seed,
        **snakemake.params.sizes,
    )
    job.write_frame(collection.documents[["document_id", "text"]], "documents")
    job.write_frame(benchmark.queries, "queries")
    job.write_frame(benchmark.candidates, "candidates")
