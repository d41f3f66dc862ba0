"""Scores of candidates by models that read a query and a document together."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.collections.benchmark import listed_pairs, texts_by_id
from everycell.jobs.job import Job
from everycell.learning.cross_encoder import PairLength, score_by_fold, score_pairs
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.learning.rankers import get_ranker
from everycell.trec.runs import read_run, trec_order, write_run


def rerank_pairs(job: Job) -> None:
    """Score the candidates with a ranker that reads query and document together."""
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    ranker: Any = get_ranker(job.wildcards.kind)
    pairs = listed_pairs(
        pd.read_parquet(job.input.candidates),
        splits=job.params.splits,
        settings=[job.params.setting],
        tasks=job.params.tasks,
    )
    scores = ranker.score(
        *ranker.load(job.folder_of("model")),
        texts_by_id(pd.read_parquet(job.input.queries), "query"),
        texts_by_id(pd.read_parquet(job.input.documents), "document_id"),
        list(pairs.itertuples(index=False, name=None)),
        job.params.input_options,
    )
    out = Path(job.output.run)
    write_run(pairs.assign(score=scores), out, tag=out.stem)


def rerank_cross_fitted(job: Job) -> None:
    """Re-rank BM25's top documents with cross-fitted cross-encoders."""
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    queries = texts_by_id(pd.read_parquet(job.input.queries), "query")
    documents = texts_by_id(pd.read_parquet(job.input.documents), "document_id")
    length = PairLength(**job.params.pair_length)
    first = trec_order(read_run(job.input.run)).groupby("query").head(job.params.depth)

    def scorers():
        """Held-out queries and scoring function of each model in turn."""
        for folder, fold in zip(job.input.models, job.input.folds, strict=True):
            # If no model was trained on the collection, the first model ranks all queries.
            fold_queries = first["query"]
            if job.params.cross_fitted:
                fold_queries = pd.read_parquet(fold).query("split == 'test'")["query"]
            model, tokenizer = load_model(Path(folder), "classifier")
            yield (
                set(fold_queries),
                partial(
                    score_pairs, model.to(device()), tokenizer, queries, documents, length=length
                ),
            )

    out = Path(job.output.run)
    write_run(score_by_fold(first[["query", "document"]], scorers()), out, tag=out.stem)
