"""Responses from clusters of nuggets, with the provenance of each sentence.

The nuggets of a question are clustered (facets of its answer). Clusters are ranked by how well they
answer the question: duoT5 on their joined nuggets, or BM25. `provenance` links the sentences of a
response and spans of passages as JSON, and `provenance_page` shows them.

Source: lajewska2025, section 6.2 and Table C.5, with the settings of the released code.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import Stemmer
from jinja2 import Environment, PackageLoader
from rank_bm25 import BM25Okapi
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from everycell.base.arrays import FloatArray, IntArray

#: With fewer nuggets than this, each is a separate cluster.
FEWEST = 4
_WORD = re.compile(r"[^\W_]+")


def stems(text: str) -> list[str]:
    """Stems of the words of an English text, in lower case (Snowball's English stemmer)."""
    return Stemmer.Stemmer("english").stemWords(_WORD.findall(text.lower()))


def lsa_clusters(
    texts: Sequence[str], *, seed: int, terms: Callable[[str], list[str]] = stems
) -> IntArray:
    """Clusters by latent semantic analysis, with half as many topics as nuggets.

    Each nugget is in its strongest topic. `terms` gives the terms of a text, such as its stems or
    lemmas. The sign of a topic is arbitrary, and scikit-learn has changed its rule (1.5 looks at
    the terms, earlier versions at the texts): here the text with the largest absolute strength is
    positive, the first one of a tie.
    """
    vocabulary = {term for text in texts for term in terms(text)}
    if len(texts) < FEWEST or not vocabulary:
        return np.arange(len(texts))
    if len(vocabulary) == 1:
        return np.zeros(len(texts), dtype=int)
    weights = TfidfVectorizer(analyzer=terms, max_features=1000).fit_transform(texts)
    topics = min(len(texts) // 2, weights.shape[1])
    svd = TruncatedSVD(n_components=topics, n_iter=10, random_state=seed)
    # Explained variance is not used; for equal nuggets it is undefined.
    with np.errstate(invalid="ignore", divide="ignore"):
        strengths = svd.fit_transform(weights)
    # Rounded, so that ties do not depend on the last bits of a processor.
    strengths = np.round(strengths, 9)
    largest = np.abs(strengths).argmax(axis=0)
    strengths *= np.sign(strengths[largest, np.arange(strengths.shape[1])])
    return _number_in_order(strengths.argmax(axis=1))


def density_clusters(vectors: npt.ArrayLike, *, seed: int) -> IntArray:
    """Clusters as in BERTopic: UMAP to two dimensions, then HDBSCAN.

    BERTopic 0.17.4 gives the same partition of the same vectors (tested with 4 to 40 vectors). The
    words with which it describes clusters are not used.
    """
    points = np.asarray(vectors, dtype=np.float32)
    if len(points) < FEWEST:
        return np.arange(len(points))
    # umap takes several seconds to compile when it is imported and first used.
    from sklearn.cluster import HDBSCAN
    from umap import UMAP

    with warnings.catch_warnings():
        # Warnings about fewer points than neighbours, and about one thread because of the seed.
        warnings.simplefilter("ignore", UserWarning)
        reduced = UMAP(
            n_neighbors=50, n_components=2, min_dist=0.01, random_state=seed
        ).fit_transform(points)
    return _number_in_order(
        HDBSCAN(min_cluster_size=2, min_samples=1, copy=True).fit_predict(reduced)
    )


def _number_in_order(labels: npt.ArrayLike) -> IntArray:
    """Number clusters in the order in which they first occur."""
    order: dict[int, int] = {}
    return np.array([order.setdefault(int(label), len(order)) for label in np.asarray(labels)])


def bm25_scores(question: str, texts: Sequence[str]) -> FloatArray:
    """Okapi BM25 scores of texts that form their own collection, with the thesis's package."""
    words = [stems(text) for text in texts]
    if not any(words):
        return np.zeros(len(texts))
    return BM25Okapi(words).get_scores(stems(question))


def vector_scores(
    question: npt.ArrayLike, vectors: npt.ArrayLike, clusters: npt.ArrayLike
) -> FloatArray:
    """Cosine similarity of a question and the mean of each cluster's nuggets."""
    question_vector, points, labels = (
        np.asarray(question, float),
        np.asarray(vectors, float),
        np.asarray(clusters),
    )
    scores = []
    for cluster in range(labels.max() + 1):
        mean = points[labels == cluster].mean(axis=0)
        length = np.linalg.norm(mean) * np.linalg.norm(question_vector)
        scores.append(float(mean @ question_vector / length) if length else 0.0)
    return np.array(scores)


def order(scores: npt.ArrayLike) -> list[int]:
    """Positions from the highest score to the lowest; ties keep their order."""
    return [int(position) for position in np.argsort(-np.asarray(scores, float), kind="stable")]


class Sentence(NamedTuple):
    """A sentence of a response, with the numbers of its nuggets."""

    text: str
    nuggets: tuple[int, ...]


class Response(NamedTuple):
    """A response to the question of a topic."""

    topic: str
    sentences: tuple[Sentence, ...]
    follow_up: str = ""

    @property
    def text(self) -> str:
        """Sentences, joined by blanks."""
        return " ".join(sentence.text for sentence in self.sentences)


def choose_clusters(scores: npt.ArrayLike, first: int) -> tuple[list[int], int | None]:
    """Choose the top clusters for a response, and the next one for its follow-up question."""
    ranked = order(scores)
    if not ranked:
        return [], None
    return ranked[:first], ranked[min(first, len(ranked) - 1)]


def most_central(texts: Sequence[str]) -> int:
    """Position of the text that shares the most words with the others: an extractive summary.

    A text's score is the mean, over the other texts, of the share of their distinct words that it
    contains; ties go to the longest, then the first.
    """
    words = [set(stems(text)) for text in texts]
    scores = [
        float(
            np.mean(
                [
                    len(own & other) / max(len(other), 1)
                    for other_row, other in enumerate(words)
                    if other_row != row
                ]
                or [0.0]
            )
        )
        for row, own in enumerate(words)
    ]
    return max(range(len(texts)), key=lambda row: (round(scores[row], 12), len(words[row]), -row))


def first_words(text: str, limit: int) -> str:
    """Truncate a text to a number of words."""
    words = text.split()
    return " ".join(words) if len(words) <= limit else f"{' '.join(words[:limit])} …"


def responses_frame(responses: Mapping[str, Sequence[Response]]) -> pd.DataFrame:
    """Responses of several systems as a frame, one row per sentence."""
    rows = [
        (system, response.topic, number, sentence.text, list(sentence.nuggets), response.follow_up)
        for system, of_system in responses.items()
        for response in of_system
        for number, sentence in (list(enumerate(response.sentences, 1)) or [(0, Sentence("", ()))])
    ]
    return pd.DataFrame(
        rows, columns=["system", "topic", "sentence", "text", "nuggets", "follow_up"]
    )


def responses_of(rows: pd.DataFrame) -> list[Response]:
    """Responses of one system from the rows of `responses_frame`."""
    return [
        Response(
            str(topic),
            tuple(
                Sentence(row.text, tuple(int(nugget) for nugget in row.nuggets))
                for row in own.sort_values("sentence").itertuples(index=False)
                if row.sentence > 0
            ),
            str(own["follow_up"].iloc[0]),
        )
        for topic, own in rows.groupby("topic", sort=False)
    ]


_PAGES = Environment(
    loader=PackageLoader("everycell.rag", "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)


def provenance(
    responses: Sequence[Response],
    nuggets: pd.DataFrame,
    passages: pd.DataFrame,
    questions: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Responses with the spans on which their sentences are based, as JSON values."""
    texts = {(row.topic, row.passage_id): row.text for row in passages.itertuples(index=False)}
    of_topic = {topic: rows for topic, rows in nuggets.groupby("topic", sort=False)}
    entries = []
    for response in responses:
        rows = of_topic.get(response.topic, nuggets.iloc[:0]).to_dict("records")
        entries.append(
            {
                "topic": response.topic,
                "question": questions[response.topic],
                "follow_up": response.follow_up,
                "sentences": [
                    {"text": part.text, "nuggets": list(part.nuggets)}
                    for part in response.sentences
                ],
                "spans": [
                    {
                        "nugget": int(row["nugget"]),
                        "passage": row["passage_id"],
                        "start": int(row["start"]),
                        "end": int(row["end"]),
                        "text": row["text"],
                    }
                    for row in rows
                ],
                "passages": {
                    passage: text
                    for (topic, passage), text in texts.items()
                    if topic == response.topic
                },
            }
        )
    return entries


def pieces(passage: str, spans: Sequence[Mapping[str, Any]]) -> list[tuple[str, int | None]]:
    """Divide a passage at its spans: texts, with the number of the nugget or None."""
    segments: list[tuple[str, int | None]] = []
    end = 0
    for span in sorted(spans, key=lambda item: item["start"]):
        if span["start"] > end:
            segments.append((passage[end : span["start"]], None))
        segments.append((passage[span["start"] : span["end"]], span["nugget"]))
        end = span["end"]
    if end < len(passage):
        segments.append((passage[end:], None))
    return segments


def provenance_page(responses: Sequence[Mapping[str, Any]], title: str, note: str = "") -> str:
    """A page of responses: each sentence links to its spans, and each span to its sentences."""
    blocks = []
    for number, response in enumerate(responses, 1):
        pieces_by_passage = {
            passage: pieces(
                text, [span for span in response["spans"] if span["passage"] == passage]
            )
            for passage, text in response["passages"].items()
        }
        sentences_by_nugget: dict[int, list[int]] = {}
        for position, sentence in enumerate(response["sentences"], 1):
            for nugget in sentence["nuggets"]:
                sentences_by_nugget.setdefault(nugget, []).append(position)
        blocks.append(
            {
                **response,
                "number": number,
                "pieces": pieces_by_passage,
                "sentences_by_nugget": sentences_by_nugget,
            }
        )
    return _PAGES.get_template("provenance.html").render(responses=blocks, title=title, note=note)
