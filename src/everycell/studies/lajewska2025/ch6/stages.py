"""Pipeline stages, each for all questions, kinds of input and detection methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.rag.grounded.clusters import (
    bm25_scores,
    density_clusters,
    lsa_clusters,
    vector_scores,
)
from everycell.rag.grounded.responses import Response, responses_frame
from everycell.studies.lajewska2025.ch6.systems import (
    BASELINE,
    BM25,
    DENSITY,
    LSA,
    NEURAL,
    ON_OTHER_INPUT,
    RELEVANT,
    SYSTEMS,
    extract_response,
    facets,
    nearest_sentences,
)
from everycell.text.sentences import sentence_spans

#: Question and n texts -> scores of shape (n,).
Compare = Callable[[str, list[str]], FloatArray]
#: Columns that identify the nuggets of one question.
_GROUP = ["detection", "input", "topic"]


def cluster_nuggets(nuggets: pd.DataFrame, vectors: pd.Series, *, seed: int) -> pd.DataFrame:
    """Clusters of all nuggets, by both methods."""
    parts = []
    for _keys, rows in nuggets.groupby(_GROUP, sort=False):
        texts = rows["text"].tolist()
        by_method = {
            DENSITY: density_clusters(np.stack(vectors[texts].tolist()), seed=seed),
            LSA: lsa_clusters(texts, seed=seed),
        }
        for name, clusters in by_method.items():
            part = rows[[*_GROUP, "nugget"]].assign(clustering=name, cluster=clusters)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)


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


def extract_responses(
    passages: pd.DataFrame,
    nuggets: pd.DataFrame,
    clusters: pd.DataFrame,
    ranks: pd.DataFrame,
    vectors: pd.Series,
    *,
    clusters_shown: int,
    sentences: int,
    words: int,
) -> pd.DataFrame:
    """Extractive responses of all variants, as `responses_frame` plus `input`."""
    parts = []
    for kind, kind_passages in passages.groupby("input", sort=False):
        kind_frames = [frame[frame["input"] == kind] for frame in (nuggets, clusters, ranks)]
        topics = [str(topic) for topic in kind_passages["topic"].unique()]
        responses: dict[str, list[Response]] = {}
        for name, system in SYSTEMS.items():
            if kind != RELEVANT and name not in ON_OTHER_INPUT:
                continue
            by_topic = {
                topic_facets.topic: extract_response(
                    system, topic_facets, sentences=clusters_shown, words=words
                )
                for topic_facets in facets(system, *kind_frames, first=clusters_shown)
            }
            # A topic without nuggets has an empty response.
            responses[name] = [by_topic.get(topic, Response(topic, ())) for topic in topics]
        responses[BASELINE] = [
            _baseline_response(str(topic), rows, vectors, sentences)
            for topic, rows in kind_passages.groupby("topic", sort=False)
        ]
        parts.append(responses_frame(responses).assign(input=kind))
    return pd.concat(parts, ignore_index=True)


def _baseline_response(topic: str, rows: pd.DataFrame, vectors: pd.Series, limit: int) -> Response:
    texts = [text[start:end] for text in rows["text"] for start, end in sentence_spans(text)]
    scores = np.stack(vectors[texts].tolist()) @ vectors[rows["question"].iloc[0]]
    return nearest_sentences(topic, texts, scores, limit=limit)
