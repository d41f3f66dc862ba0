"""BM25 run for the questions on a collection, from a temporary index."""

import tempfile
from pathlib import Path

from everycell.collections.cited_questions import read_cited_questions
from everycell.jobs.job import Job
from everycell.retrieval.java import start_java
from everycell.retrieval.prebuilt import index_texts, search_words
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    start_java(snakemake.resources.mem_mb // 3)
    target = Path(snakemake.output.run)
    collection = read_cited_questions(Path(snakemake.input.passages).parent)
    passages = collection.passages
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".index.") as index_folder:
        folder = Path(index_folder, "lucene")
        texts = zip(passages["document_id"], passages["text"], strict=True)
        indexed = index_texts(texts, folder, threads=snakemake.threads)
        queries = dict(
            zip(collection.questions["query_id"], collection.questions["text"], strict=True)
        )
        run = search_words(
            folder,
            queries,
            **snakemake.params.bm25,
            hits=snakemake.params.hits,
            threads=snakemake.threads,
        )
    job.log.write(f"{indexed} passages, {run['query'].nunique()} of {len(queries)} questions\n")
    write_run(run, target, tag="bm25")
