"""Variants of GINGER in Tables 6.6 and C.7: their nuggets, clusters and ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.rag.grounded.responses import (
    Response,
    Sentence,
    choose_clusters,
    first_words,
    most_central,
)

#: Methods of detection, clustering and ranking, as named in Table C.5. The neural ranker is duoT5
#: or a surrogate, depending on the tier.
GOLD, DETECTED = "Gold", "GPT-4"
DENSITY, LSA = "BERTopic", "LSA"
NEURAL, BM25 = "DuoT5", "BM25"
#: Kinds of input.
RELEVANT, IRRELEVANT = "relevant", "irrelevant"
BASELINE = "Baseline"
#: The baseline with a chain of thought, which is not in the tables on CAsT.
REASONED = "Baseline CoT"
#: Topics with fewer nuggets are left out, as in the thesis (L1704).
MIN_NUGGETS = 2


class System(NamedTuple):
    """A variant without rewriting."""

    detection: str = DETECTED
    clustering: str = DENSITY
    ranking: str = NEURAL
    #: Whether all sentences are on the first cluster, instead of one on each cluster.
    deep: bool = False


#: Name in Table C.7 -> variant; two names are those of the authors' repository.
SYSTEMS: Mapping[str, System] = {
    "CAsT-snippets/BERTopic/DuoT5/GPT-4": System(detection=GOLD),
    "GINGER -fluency w/ GTnuggets+BM25": System(detection=GOLD, ranking=BM25),
    "GINGER -fluency w/ GTnuggets+LSA": System(detection=GOLD, clustering=LSA),
    "CAsT-snippets/LSA/BM25/GPT-4": System(detection=GOLD, clustering=LSA, ranking=BM25),
    "GINGER -fluency": System(),
    "GPT-4/BERTopic/BM25/GPT-4": System(ranking=BM25),
    "GINGER -fluency w/ LSA": System(clustering=LSA),
    "GINGER -fluency w/ BM25+LSA": System(clustering=LSA, ranking=BM25),
    "GINGER -fluency (deep)": System(deep=True),
    "GINGER -fluency (broad)": System(),
}
STANDARD = "GINGER -fluency"
#: Variants that also run on irrelevant input.
ON_OTHER_INPUT = (STANDARD,)


class Facets(NamedTuple):
    """Nuggets of a topic, grouped by ranked cluster."""

    topic: str
    #: Numbers of the nuggets of each selected cluster, best cluster first.
    clusters: list[list[int]]
    #: Numbers of the nuggets of the cluster for the follow-up question.
    next: list[int]
    #: Number of a nugget -> text.
    texts: dict[int, str]


def facets(
    system: System, nuggets: pd.DataFrame, clusters: pd.DataFrame, ranks: pd.DataFrame, first: int
) -> Iterator[Facets]:
    """Nuggets of each topic, by the clusters and ranking of a variant."""
    detected = nuggets[nuggets["detection"] == system.detection]
    assigned = clusters[
        (clusters["detection"] == system.detection) & (clusters["clustering"] == system.clustering)
    ]
    scored = ranks[
        (ranks["detection"] == system.detection)
        & (ranks["clustering"] == system.clustering)
        & (ranks["ranking"] == system.ranking)
    ]
    for topic, rows in detected.groupby("topic", sort=False):
        members = assigned[assigned["topic"] == topic]
        scores = scored[scored["topic"] == topic].sort_values("cluster")["score"]
        best, following = choose_clusters(scores, 1 if system.deep else first)
        nuggets_by_cluster = {
            int(number): [int(nugget) for nugget in cluster_rows["nugget"]]
            for number, cluster_rows in members.groupby("cluster")
        }
        yield Facets(
            str(topic),
            [nuggets_by_cluster[number] for number in best],
            [] if following is None else nuggets_by_cluster[following],
            {int(nugget): text for nugget, text in zip(rows["nugget"], rows["text"], strict=True)},
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
