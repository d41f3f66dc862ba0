"""Extractive responses of chapter 6 of lajewska2025, and pages with the sources of responses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.files import write_atomically, write_json
from everycell.jobs.job import Job
from everycell.rag.nugget_responses import (
    Response,
    Sentence,
    first_words,
    most_central,
    provenance,
    provenance_page,
    responses_frame,
    responses_of,
)
from everycell.text.sentences import sentence_spans
from papers.lajewska2025.ch6_systems import (
    BASELINE,
    DETECTED,
    ON_OTHER_INPUT,
    RELEVANT,
    STANDARD,
    SYSTEMS,
    Facets,
    System,
    facets,
)

TITLE = "Responses from nuggets, with the spans that they come from"
NOTE = (
    "A surrogate of GINGER: a sentence classifier detected the nuggets, and each sentence is the "
    "most central nugget of a cluster. Questions and passages are from CAsT-snippets (Lajewska and "
    "Balog, CIKM 2023), which are from TREC CAsT."
)


def extract_response(
    system: System, topic_facets: Facets, *, sentences: int, words: int
) -> Response:
    """An extractive response: the most central nugget of each cluster."""
    if system.deep:
        remaining = list(topic_facets.clusters[0]) if topic_facets.clusters else []
        parts = []
        while remaining and len(parts) < sentences:
            texts = [topic_facets.texts[nugget] for nugget in remaining]
            parts.append([remaining.pop(most_central(texts))])
    else:
        parts = topic_facets.clusters
    nuggets = [
        cluster[most_central([topic_facets.texts[nugget] for nugget in cluster])]
        for cluster in parts
    ]
    return Response(
        topic_facets.topic,
        tuple(
            Sentence(first_words(topic_facets.texts[nugget], words), (nugget,))
            for nugget in nuggets
        ),
    )


def nearest_sentences(
    topic: str, sentences: Sequence[str], scores: Sequence[float], *, limit: int
) -> Response:
    """Extractive one-step baseline: the sentences nearest to the question."""
    order = np.argsort(-np.asarray(scores, float), kind="stable")
    texts = list(dict.fromkeys(sentences[index] for index in order))[:limit]
    return Response(topic, tuple(Sentence(" ".join(text.split()), ()) for text in texts))


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


def _write_sources(
    job: Job,
    responses: pd.DataFrame,
    nuggets: pd.DataFrame,
    passages: pd.DataFrame,
    kind: str,
    system: str,
    note: str,
) -> None:
    """Write the source spans of a system's sentences, as JSON and as an HTML page."""
    responses, nuggets, passages = (
        frame[frame["input"] == kind] for frame in (responses, nuggets, passages)
    )
    sources = provenance(
        responses_of(responses[responses["system"] == system]),
        nuggets[nuggets["detection"] == DETECTED],
        passages,
        passages.groupby("topic")["question"].first().to_dict(),
    )
    write_json(Path(job.output.json), sources)
    write_atomically(Path(job.output.page), provenance_page(sources, TITLE, note))


def extract(job: Job) -> None:
    """Extractive responses of each variant and of the one-step baseline."""
    files, params = job.input, job.params
    passages, nuggets = pd.read_parquet(files.passages), pd.read_parquet(files.nuggets)
    responses = extract_responses(
        passages,
        nuggets,
        pd.read_parquet(files.clusters),
        pd.read_parquet(files.ranks),
        pd.read_parquet(files.vectors).set_index("text")["vector"],
        clusters_shown=params.clusters,
        sentences=params.sentences,
        words=params.words,
    )
    job.write_frame(responses, "responses")
    _write_sources(job, responses, nuggets, passages, RELEVANT, STANDARD, NOTE)


def show(job: Job) -> None:
    """Responses written by a language model, with their source spans."""
    files, params = job.input, job.params
    responses, nuggets, passages = map(
        pd.read_parquet, (files.responses, files.nuggets, files.passages)
    )
    note = f"Nuggets and sentences by {params.model}, system {params.system}. {params.note}"
    _write_sources(job, responses, nuggets, passages, params.kind, params.system, note)
