"""Clusters of nuggets in chapter 6 of lajewska2025, and their ranking."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.jobs.job import Job
from everycell.rag.nugget_responses import (
    bm25_scores,
    density_clusters,
    lsa_clusters,
    vector_scores,
)
from everycell.text.sentences import sentence_spans
from papers.lajewska2025.ch6_lemmas import lemmatiser
from papers.lajewska2025.ch6_systems import BM25, DENSITY, LSA, NEURAL

#: Question and n texts -> scores of shape (n,).
Compare = Callable[[str, list[str]], FloatArray]
#: Columns that identify the nuggets of one question.
_GROUP = ["detection", "input", "topic"]


def vectors(job: Job) -> None:
    """Embeddings of questions, nuggets and passage sentences."""
    from everycell.learning.models import device, load_model, use_one_thread
    from everycell.learning.text_vectors import dense_vectors

    use_one_thread()
    passages = pd.read_parquet(job.input.passages)
    nuggets = pd.read_parquet(job.input.nuggets)
    sentences = [
        text[start:end] for text in passages["text"] for start, end in sentence_spans(text)
    ]
    texts = list(dict.fromkeys([*passages["question"], *nuggets["text"], *sentences]))
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")
    # Double precision, because in single precision the last bits depend on the processor, which
    # changes the clusters of UMAP.
    encoder = encoder.to(device()).double()
    vectors = dense_vectors(encoder, tokenizer, texts, job.params.length)
    job.write_frame(pd.DataFrame({"text": texts, "vector": list(np.asarray(vectors))}), "vectors")


def cluster_nuggets(
    nuggets: pd.DataFrame, vectors: pd.Series, terms: Callable[[str], list[str]], *, seed: int
) -> pd.DataFrame:
    """Clusters of all nuggets, by both methods."""
    parts = []
    for _keys, rows in nuggets.groupby(_GROUP, sort=False):
        texts = rows["text"].tolist()
        by_method = {
            DENSITY: density_clusters(np.stack(vectors[texts].tolist()), seed=seed),
            LSA: lsa_clusters(texts, seed=seed, terms=terms),
        }
        for name, clusters in by_method.items():
            part = rows[[*_GROUP, "nugget"]].assign(clustering=name, cluster=clusters)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)


def clusters(job: Job) -> None:
    """Cluster the nuggets of each question."""
    nuggets = pd.read_parquet(job.input.nuggets)
    vectors = pd.read_parquet(job.input.vectors).set_index("text")["vector"]
    clusters = cluster_nuggets(
        nuggets, vectors, lemmatiser(job.input), seed=job.params.cluster_seed
    )
    job.write_frame(clusters, "clusters")


def rank_clusters(
    nuggets: pd.DataFrame,
    clusters: pd.DataFrame,
    questions: pd.Series,
    vectors: pd.Series,
    compare: Compare | None = None,
) -> pd.DataFrame:
    """Scores of all clusters, by BM25 on their joined nuggets and by a neural ranker."""
    rows = []
    joined = clusters.merge(nuggets[[*_GROUP, "nugget", "text"]], on=[*_GROUP, "nugget"])
    for keys, group in joined.groupby([*_GROUP, "clustering"], sort=False):
        question = questions[keys[2]]
        texts = group.groupby("cluster")["text"].agg(" ".join)
        points = np.stack(vectors[group["text"].tolist()].tolist())
        scores = {
            BM25: bm25_scores(question, texts.tolist()),
            NEURAL: vector_scores(vectors[question], points, group["cluster"])
            if compare is None
            else compare(question, texts.tolist()),
        }
        rows += [
            (*keys, name, cluster, float(score))
            for name, values in scores.items()
            for cluster, score in enumerate(values)
        ]
    return pd.DataFrame(rows, columns=[*_GROUP, "clustering", "ranking", "cluster", "score"])


def ranks(job: Job) -> None:
    """Rank the clusters of nuggets by relevance to the question."""
    files = job.input
    questions = pd.read_parquet(files.passages).groupby("topic")["question"].first()
    vectors = pd.read_parquet(files.vectors).set_index("text")["vector"]
    compare = None
    if files.get("duo"):
        from everycell.learning.t5 import load_t5, pair_scores

        compare = partial(pair_scores, *load_t5(job.folder_of("duo")))
    ranked = rank_clusters(
        pd.read_parquet(files.nuggets), pd.read_parquet(files.clusters), questions, vectors, compare
    )
    job.write_frame(ranked, "ranks")
