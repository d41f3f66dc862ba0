"""Stages of retrieval that need no model: terms, lexical rankers, scores from encoded texts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import judgements, listed_pairs
from everycell.jobs.job import Job
from everycell.retrieval.encoded import read_encoded
from everycell.retrieval.judged_lists import search_grid
from everycell.retrieval.lucene import Index
from everycell.retrieval.ranking_functions import BM25, Dirichlet, JelinekMercer, Rm3
from everycell.text.tokenise import tokeniser
from everycell.trec.runs import restrict_run, write_run


def tokenise(job: Job) -> None:
    """Tokenise documents and queries; terms are separated by blanks."""
    vocabulary = job.input.get("vocabulary")
    terms_of = tokeniser(job.params.name, Path(vocabulary) if vocabulary else None)
    for part, key in (("documents", "document_id"), ("queries", "query")):
        texts = pd.read_parquet(job.input[part]).drop_duplicates(key)
        terms = [" ".join(words[: job.params.first]) for words in terms_of(list(texts["text"]))]
        job.write_frame(pd.DataFrame({key: texts[key], "terms": terms}), part)


def _queries(job: Job) -> dict[str, list[str]]:
    """Terms of each query."""
    return pd.read_parquet(job.input.queries).set_index("query")["terms"].str.split().to_dict()


def score_lexically(job: Job) -> None:
    """Runs of lexical rankers: on the candidates if there are any, otherwise from a search."""
    settings = job.params
    queries = _queries(job)
    # Lazy, because a job has only the parameters of the rankers whose runs it writes.
    rankers = {
        "bm25": lambda: BM25(**settings.bm25),
        "lm": lambda: JelinekMercer(settings.jelinek_mercer),
        "lm_dirichlet": lambda: Dirichlet(settings.dirichlet),
    }
    with Index(Path(job.input.index)) as index:
        for name, out in job.output.items():
            ranker = rankers[name]()
            if job.input.get("candidates"):
                candidates = pd.read_parquet(job.input.candidates)
                pairs = listed_pairs(candidates, splits=["test", "validation"])
                run = index.score_pairs(queries, pairs, ranker)
            else:
                run = index.search(queries, ranker, settings.hits)
            write_run(run, Path(out), tag=name)


def score_with_feedback(job: Job) -> None:
    """BM25 with and without feedback (RM3), on the candidate lists."""
    queries = _queries(job)
    pairs = listed_pairs(pd.read_parquet(job.input.candidates), splits=["test"])
    ranker = BM25(**job.params.bm25)
    with Index(Path(job.input.index)) as index:
        write_run(index.score_pairs(queries, pairs, ranker), Path(job.output.bm25), tag="bm25")
        # Feedback needs a ranking of the entire collection.
        hits = index.statistics().documents
        run = index.search(queries, ranker, hits, feedback=Rm3(**job.params.rm3))
    # A search returns no score for documents without any term of the expanded query.
    run = restrict_run(run, pairs, missing=0.0, outside="drop")
    write_run(run, Path(job.output.rm3), tag="bm25+rm3")


def tune_bm25(job: Job) -> None:
    """BM25 with the best parameters on validation queries, by grid search."""
    settings = job.params
    queries = _queries(job)
    candidates = pd.read_parquet(job.input.candidates)
    validation = {"setting": settings.setting, "split": "validation"}
    lists = {task: judgements(candidates, task=task, **validation) for task in settings.tasks}
    pairs = pd.concat(lists.values()).drop_duplicates(["query", "document"])
    with Index(Path(job.input.index)) as index:

        def rank(k1: float, b: float) -> pd.DataFrame:
            """Run of BM25 with these parameters on the validation lists."""
            return index.score_pairs(queries, pairs, BM25(k1=k1, b=b))

        points = {name: settings.grid[name] for name in ("k1", "b")}
        best, grid = search_grid(rank, points, lists, settings.measure)
        scored = listed_pairs(candidates, splits=["test", "validation"])
        write_run(
            index.score_pairs(queries, scored, BM25(**best)),
            Path(job.output.run),
            tag=f"bm25_k1={best['k1']}_b={best['b']}",
        )
    grid.to_csv(job.output.grid, index=False)


def rerank(job: Job) -> None:
    """Score the candidates with a ranker that encodes documents and queries separately."""
    pairs = listed_pairs(pd.read_parquet(job.input.candidates), splits=["test", "validation"])
    run = read_encoded(Path(job.input.vectors)).score(pairs)
    write_run(run, Path(job.output.run), tag=Path(job.output.run).stem)
