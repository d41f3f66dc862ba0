"""New responses to TREC RAG 2024 for Tables 6.7 and 6.8 of chapter 6 of lajewska2025."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.rag.nugget_responses import Response, Sentence, responses_frame
from papers.lajewska2025.ch6_systems import BM25, LSA, Facets, System, facets
from papers.lajewska2025.ch6_trec_rag import read_rag_passages
from papers.lajewska2025.ch6_writing import Writer, make_writer, rewrite, summarise

#: Kind of input -> passages per topic.
SIZES: Mapping[str, int] = {"top5": 5, "top10": 10, "top20": 20}
#: Words of a response to ten or twenty passages, as limited by the track.
WORD_LIMIT = 400


class Run(NamedTuple):
    """A submitted variant of GINGER."""

    kind: str
    system: System
    #: Words of a response; None: one sentence for each of the top clusters.
    word_limit: int | None = WORD_LIMIT
    #: Name of the run with the same responses as fluent paragraphs.
    fluent_run: str | None = None


#: Runs by their names in the released labels.
RUNS: Mapping[str, Run] = {
    "ginger-fluency_top_5": Run("top5", System(), word_limit=None, fluent_run="ginger_top_5"),
    "ginger-fluency_top_10": Run("top10", System()),
    "ginger-fluency_top_20": Run("top20", System()),
    "ginger_bertopic_bm25": Run("top20", System(ranking=BM25)),
    "ginger_lsa_duot5": Run("top20", System(clustering=LSA)),
    "ginger_lsa_bm25": Run("top20", System(clustering=LSA, ranking=BM25)),
}
#: Run of a baseline -> prompt; baselines use the smallest input.
BASELINES: Mapping[str, str] = {
    "baseline_top_5": "one_step",
    "baseline_top_5_cot": "chain_of_thought",
}


def select_by_size(passages: pd.DataFrame) -> pd.DataFrame:
    """Passages with a column `input`, once for each of `SIZES` that includes them."""
    parts = [passages[passages["rank"] <= size].assign(input=kind) for kind, size in SIZES.items()]
    return pd.concat(parts, ignore_index=True)


def rag_passages(job: Job) -> None:
    """Top passages of each topic of TREC RAG 2024, for each input size."""
    params = job.params
    passages = read_rag_passages(
        Path(params.folder), depth=max(SIZES.values()), topics=params.topics
    )
    job.log.write(f"{len(passages)} passages of {passages['topic'].nunique()} topics.\n")
    job.write_frame(select_by_size(passages), "passages")


def rag_responses(
    writer: Writer,
    passages: pd.DataFrame,
    nuggets: pd.DataFrame,
    clusters: pd.DataFrame,
    ranks: pd.DataFrame,
) -> pd.DataFrame:
    """Responses of baselines and runs to all topics, as `responses_frame` plus `input`.

    A topic without nuggets has an empty response, which supports no fact.
    """
    frames_by_kind = {
        kind: [frame[frame["input"] == kind] for frame in (nuggets, clusters, ranks)]
        for kind in SIZES
    }
    questions = passages.groupby("topic", sort=False)["question"].first().to_dict()
    smallest = next(iter(SIZES))
    texts = passages[passages["input"] == smallest].groupby("topic", sort=False)["text"].agg(list)
    by_run = {
        (name, smallest): writer.respond_in_one_step(prompt, questions, texts.to_dict())
        for name, prompt in BASELINES.items()
    }
    for name, run in RUNS.items():
        top = writer.clusters if run.word_limit is None else len(nuggets)
        all_facets = list(facets(run.system, *frames_by_kind[run.kind], first=top))
        plain = _write_sentences(writer, all_facets, questions, run.word_limit)
        by_run[name, run.kind] = _fill_topics(plain, questions)
        if run.fluent_run is not None:
            fluent = rewrite(writer, all_facets, plain, questions)
            by_run[run.fluent_run, run.kind] = _fill_topics(fluent, questions)
    parts = [
        responses_frame({name: responses}).assign(input=kind)
        for (name, kind), responses in by_run.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _fill_topics(responses: Sequence[Response], topics: Mapping[str, str]) -> list[Response]:
    """Responses to all topics, empty if missing."""
    by_topic = {response.topic: response for response in responses}
    return [by_topic.get(topic, Response(topic, ())) for topic in topics]


def _write_sentences(
    writer: Writer, all_facets: Sequence[Facets], questions: Mapping[str, str], limit: int | None
) -> list[Response]:
    """Write sentences on the clusters in order, until a response reaches the word limit."""
    sentences: dict[str, list[Sentence]] = {topic_facets.topic: [] for topic_facets in all_facets}
    unfinished = list(all_facets)
    start = 0
    while unfinished:
        size = writer.clusters if limit is None else -(-limit // writer.words)
        batch = [
            topic_facets._replace(clusters=topic_facets.clusters[start : start + size], next=[])
            for topic_facets in unfinished
        ]
        for topic_facets, new in zip(batch, summarise(writer, batch, questions), strict=True):
            sentences[topic_facets.topic] += new
        start += size
        unfinished = [
            topic_facets
            for topic_facets in unfinished
            if start < len(topic_facets.clusters)
            and (limit is None or _count_words(sentences[topic_facets.topic]) < limit)
        ]
    return [
        Response(topic_facets.topic, _shorten(sentences[topic_facets.topic], limit))
        for topic_facets in all_facets
    ]


def _count_words(sentences: Sequence[Sentence]) -> int:
    return sum(len(sentence.text.split()) for sentence in sentences)


def _shorten(sentences: Sequence[Sentence], limit: int | None) -> tuple[Sentence, ...]:
    """First sentences within the word limit, but at least one."""
    head: list[Sentence] = []
    for sentence in sentences:
        if limit is not None and head and _count_words([*head, sentence]) > limit:
            break
        head.append(sentence)
    return tuple(head)


def responses_to_judge(responses: pd.DataFrame, questions: Mapping[str, str]) -> pd.DataFrame:
    """Complete responses with the columns `run`, `topic`, `question` and `text`."""
    ordered = responses.sort_values("sentence", kind="stable")
    texts = ordered.groupby(["system", "topic"], sort=False, as_index=False)["text"].agg(" ".join)
    texts = texts.rename(columns={"system": "run"})
    return texts.assign(question=texts["topic"].map(questions))


def rag_write(job: Job) -> None:
    """Responses of all runs to topics of TREC RAG 2024, written by a language model."""
    files, params = job.input, job.params
    passages = pd.read_parquet(files.passages)
    with model_of_job(job.snakemake, job.log) as model:
        writer = make_writer(model, params)
        responses = rag_responses(
            writer, passages, *map(pd.read_parquet, (files.nuggets, files.clusters, files.ranks))
        )
    questions = passages.groupby("topic")["question"].first().to_dict()
    judged_responses = responses_to_judge(responses, questions)
    empty = judged_responses[judged_responses["text"].str.strip() == ""].groupby("run").size()
    job.log.write(f"Empty responses by run: {empty.to_dict()}\n")
    job.write_frame(responses, "sentences")
    job.write_frame(judged_responses, "responses")
