"""GrepBiasIR as a retrieval collection: all texts, or all items in one wording."""

from pathlib import Path

from everycell.collections.grepbias import (
    all_wordings_benchmark,
    one_wording_benchmark,
    read_grepbias,
)
from everycell.jobs.job import Job

with Job(snakemake) as job:
    first, *documents = map(Path, snakemake.input)
    collection = read_grepbias(first, documents)
    wording = snakemake.params.wording
    grepbias = (
        all_wordings_benchmark(collection, seed=job.seed)
        if wording is None
        else one_wording_benchmark(collection, wording, seed=job.seed)
    )
    texts, benchmark = grepbias
    job.write_frame(texts, "documents")
    job.write_frame(benchmark.queries, "queries")
    job.write_frame(benchmark.candidates, "candidates")
    qrels = benchmark.candidates.query("relevance > 0")[["query_id", "document_id", "relevance"]]
    job.write_frame(qrels.set_axis(["query", "document", "relevance"], axis="columns"), "qrels")
