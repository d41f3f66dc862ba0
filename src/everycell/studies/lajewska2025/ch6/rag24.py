"""Responses to the topics of TREC RAG 2024: those of Tables 6.7 and 6.8, written again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from everycell.rag.grounded.responses import Response, Sentence, responses_frame
from everycell.studies.lajewska2025.ch6.systems import BM25, LSA, Facets, System, facets
from everycell.studies.lajewska2025.ch6.writing import Writer, rewrite, summarise

#: Kind of input -> passages of a topic.
SIZES: Mapping[str, int] = {"top5": 5, "top10": 10, "top20": 20}
#: Words of a response to ten or twenty passages (the limit of the track).
MOST_WORDS = 400


class Run(NamedTuple):
    """A variant of GINGER as it was submitted."""

    kind: str
    system: System
    #: Words of a response; None: a sentence for each of the first clusters.
    word_limit: int | None = MOST_WORDS
    #: Run of the same responses as a fluent paragraph.
    fluent_run: str | None = None


#: Runs by the names that they have in the released labels.
RUNS: Mapping[str, Run] = {
    "ginger-fluency_top_5": Run("top5", System(), word_limit=None, fluent_run="ginger_top_5"),
    "ginger-fluency_top_10": Run("top10", System()),
    "ginger-fluency_top_20": Run("top20", System()),
    "ginger_bertopic_bm25": Run("top20", System(ranking=BM25)),
    "ginger_lsa_duot5": Run("top20", System(clustering=LSA)),
    "ginger_lsa_bm25": Run("top20", System(clustering=LSA, ranking=BM25)),
}
#: Baselines: run -> prompt; their input is the smallest.
BASELINES: Mapping[str, str] = {
    "baseline_top_5": "one_step",
    "baseline_top_5_cot": "chain_of_thought",
}


def by_size(passages: pd.DataFrame) -> pd.DataFrame:
    """Passages with a column `input`, once for each of `SIZES` that they belong to.

    Examples
    --------
    >>> rows = pd.DataFrame({"topic": "1", "rank": range(1, 13)})
    >>> by_size(rows).groupby("input", sort=False).size().to_dict()
    {'top5': 5, 'top10': 10, 'top20': 12}
    """
    parts = [passages[passages["rank"] <= size].assign(input=kind) for kind, size in SIZES.items()]
    return pd.concat(parts, ignore_index=True)


def rag_responses(
    writer: Writer,
    passages: pd.DataFrame,
    nuggets: pd.DataFrame,
    clusters: pd.DataFrame,
    ranks: pd.DataFrame,
) -> pd.DataFrame:
    """Responses of the baselines and of all runs to all topics, as `responses_frame`, with `input`.

    A topic without a nugget has an empty response, which a judge gives no fact.
    """
    of_kind = {
        kind: [frame[frame["input"] == kind] for frame in (nuggets, clusters, ranks)]
        for kind in SIZES
    }
    questions = passages.groupby("topic", sort=False)["question"].first().to_dict()
    smallest = next(iter(SIZES))
    texts = passages[passages["input"] == smallest].groupby("topic", sort=False)["text"].agg(list)
    by_run = {
        (name, smallest): writer.in_one_step(prompt, questions, texts.to_dict())
        for name, prompt in BASELINES.items()
    }
    for name, run in RUNS.items():
        first = writer.clusters if run.word_limit is None else len(nuggets)
        own_nuggets, own_clusters, own_ranks = of_kind[run.kind]
        own = list(facets(run.system, own_nuggets, own_clusters, own_ranks, first))
        plain = _within(writer, own, questions, run.word_limit)
        by_run[name, run.kind] = _of_all(plain, questions)
        if run.fluent_run is not None:
            fluent = rewrite(writer, own, plain, questions)
            by_run[run.fluent_run, run.kind] = _of_all(fluent, questions)
    parts = [
        responses_frame({name: responses}).assign(input=kind)
        for (name, kind), responses in by_run.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _of_all(responses: Sequence[Response], topics: Mapping[str, str]) -> list[Response]:
    of_topic = {response.topic: response for response in responses}
    return [of_topic.get(topic, Response(topic, ())) for topic in topics]


def _within(
    writer: Writer, own: Sequence[Facets], questions: Mapping[str, str], limit: int | None
) -> list[Response]:
    """Sentences on the clusters in their order, while a response has room for them."""
    sentences: dict[str, list[Sentence]] = {topic_facets.topic: [] for topic_facets in own}
    open_ = list(own)
    done = 0
    while open_:
        size = writer.clusters if limit is None else -(-limit // writer.words)
        batch = [
            topic_facets._replace(clusters=topic_facets.clusters[done : done + size], next=[])
            for topic_facets in open_
        ]
        for topic_facets, new in zip(batch, summarise(writer, batch, questions), strict=True):
            sentences[topic_facets.topic] += new
        done += size
        open_ = [
            topic_facets
            for topic_facets in open_
            if done < len(topic_facets.clusters)
            and (limit is None or _length(sentences[topic_facets.topic]) < limit)
        ]
    return [
        Response(topic_facets.topic, _cut(sentences[topic_facets.topic], limit))
        for topic_facets in own
    ]


def _length(sentences: Sequence[Sentence]) -> int:
    return sum(len(sentence.text.split()) for sentence in sentences)


def _cut(sentences: Sequence[Sentence], limit: int | None) -> tuple[Sentence, ...]:
    """First sentences with at most so many words in all; the first one always."""
    head: list[Sentence] = []
    for sentence in sentences:
        if limit is not None and head and _length([*head, sentence]) > limit:
            break
        head.append(sentence)
    return tuple(head)


def to_judge(responses: pd.DataFrame, questions: Mapping[str, str]) -> pd.DataFrame:
    """Whole responses with columns `run`, `topic`, `question` and `text`, as the released ones."""
    ordered = responses.sort_values("sentence", kind="stable")
    texts = ordered.groupby(["system", "topic"], sort=False, as_index=False)["text"].agg(" ".join)
    texts = texts.rename(columns={"system": "run"})
    return texts.assign(question=texts["topic"].map(questions))
