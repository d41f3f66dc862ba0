"""Variants of GINGER in chapter 6 of lajewska2025, and names that its tables share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from everycell.rag.nugget_responses import choose_clusters

#: Methods of detection, clustering and ranking, as named in Table C.5. The neural ranker is duoT5
#: or a surrogate, depending on the tier.
GOLD, DETECTED = "Gold", "GPT-4"
DENSITY, LSA = "BERTopic", "LSA"
NEURAL, BM25 = "DuoT5", "BM25"
#: Kinds of input.
RELEVANT, IRRELEVANT = "relevant", "irrelevant"
#: Passages of a ranker, and relevant passages that a model rephrased.
RETRIEVED, REPHRASED = "retrieved", "rephrased"
BASELINE = "Baseline"
#: The baseline with a chain of thought, which is not in the tables on CAsT.
REASONED = "Baseline CoT"
#: Topics with fewer nuggets are left out, as in the thesis (L1704).
MIN_NUGGETS = 2
#: Names in Tables 6.1, 6.4 and 6.6.
ENTAILED, CONTRADICTED, COMPLETE = "Entail", "Contrad", "Compl"
#: Scores by a language model; tables have their means and standard deviations.
FAITHFUL, RELEVANCE = "Faithfulness", "Answer rel"
#: References for agreement: each annotator, or the characters that most annotators marked.
REFERENCES = ("each annotator", "most annotators")


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


def drop_sparse_topics(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Drop questions with fewer than two nuggets, as the thesis does (L1704)."""
    counts = nuggets.groupby(["detection", "input", "topic"])["nugget"].transform("size")
    return nuggets[counts >= MIN_NUGGETS]


def join_sentences(responses: pd.DataFrame) -> pd.DataFrame:
    """Join the sentences of each response (`input`, `system`, `topic`, `text`)."""
    ordered = responses.sort_values("sentence", kind="stable")
    keys = ["input", "system", "topic"]
    return ordered.groupby(keys, sort=False, as_index=False)["text"].agg(" ".join)
