"""Questions, passages and runs of the benchmarks in chapter 5 of abolghasemi2026.

The functions run in several environments, so each imports what it needs.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.trec.runs import write_run


def nq(job: Job) -> None:
    """Questions, passages and relevance judgements of Natural Questions."""
    from everycell.rag.answers import passages_with_answers
    from papers.abolghasemi2026.ch5_nq_open import read_nq_open

    collection = read_nq_open(Path(job.input.questions))
    passages = collection.passages
    size = min(job.params.questions, len(collection.questions))
    questions = collection.questions.sample(size, random_state=job.params.seed).sort_index()
    gold = collection.gold[collection.gold["query"].isin(questions["query"])]
    # Other passages with an answer may be relevant too; chapter 5 only uses questions with exactly
    # one relevant passage in their list.
    holders = passages_with_answers(
        dict(zip(passages["document_id"], passages["text"], strict=True)),
        dict(zip(questions["query"], questions["answers"], strict=True)),
    )
    relevant = pd.concat([gold, pd.DataFrame(holders, columns=gold.columns)]).drop_duplicates()
    job.write_frame(questions, "questions")
    job.write_frame(relevant.sort_values(["query", "document"]), "relevant")
    job.write_frame(passages, "passages")
    # The same data in the format of collections for retrieval.smk.
    job.write_frame(passages[["document_id", "text"]], "documents")
    job.write_frame(questions[["query", "text"]].assign(split="test"), "queries")
    job.log.write(
        f"{len(questions)} questions, {len(passages)} passages; "
        f"{(relevant['query'].value_counts() == 1).sum()} questions have one relevant passage.\n"
    )


def nq_encoded(job: Job) -> None:
    """Runs of SPLADE and a dense encoder on Natural Questions."""
    from everycell.retrieval.encoded import read_encoded

    for name, out in job.output.items():
        encoded = read_encoded(Path(job.input[name]))
        run = encoded.search(encoded.query_ids, job.params.hits)
        write_run(run, Path(out), tag=name)


def nq_converted(job: Job) -> None:
    """Natural Questions of BEIR with released answers, converted to the format of chapter 5."""
    from everycell.collections.cited_questions import convert_beir

    converted = convert_beir(
        Path(job.input.corpus).parent,
        Path(job.output.passages).parent,
        answers=Path(job.input.answers),
    )
    job.log.write(
        f"{converted.passages} passages, {converted.questions} questions, {converted.answered} of "
        f"them with correct answers; left out {converted.left_out} without a relevant passage\n"
    )


def nq_bm25(job: Job) -> None:
    """BM25 run for the questions on a collection, from a temporary index."""
    from everycell.collections.cited_questions import read_cited_questions
    from everycell.retrieval.java import start_java
    from everycell.retrieval.prebuilt import index_texts, search_words

    start_java(job.snakemake.resources.mem_mb // 3)
    target = Path(job.output.run)
    collection = read_cited_questions(Path(job.input.passages).parent)
    passages = collection.passages
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".index.") as index_folder:
        folder = Path(index_folder, "lucene")
        texts = zip(passages["document_id"], passages["text"], strict=True)
        indexed = index_texts(texts, folder, threads=job.snakemake.threads)
        queries = dict(
            zip(collection.questions["query"], collection.questions["text"], strict=True)
        )
        run = search_words(
            folder,
            queries,
            **job.params.bm25,
            hits=job.params.hits,
            threads=job.snakemake.threads,
        )
    job.log.write(f"{indexed} passages, {run['query'].nunique()} of {len(queries)} questions\n")
    write_run(run, target, tag="bm25")


def user_benchmark(job: Job) -> None:
    """A benchmark of attribution bias from the user's files."""
    from everycell.collections.cited_questions import read_cited_questions, read_msmarco_qa

    files, runs = job.input, job.output.runs
    if "published" in files.keys():
        collection = read_msmarco_qa(Path(files.published))
        write_run(collection.run, runs[0], tag="published")
        job.facts["empty_passages_left_out"] = collection.empty
    else:
        collection = read_cited_questions(Path(files.files[0]).parent)
        for source, target in zip(files.files[2:], runs, strict=True):
            shutil.copyfile(source, target)
    for name in ("questions", "relevant", "passages"):
        job.write_frame(getattr(collection, name), name)
