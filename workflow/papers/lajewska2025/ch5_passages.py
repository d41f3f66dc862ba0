"""Passages to annotate in chapter 5 of lajewska2025: the most relevant ones, with clusters.

Source: lajewska2025, section 5.4 (p. 83): five passages, from the highest level of relevance down.
If a level has too many, they are clustered by k-means, and one of each cluster is drawn. The
features and the seeds are not stated; ours are TF-IDF weights of words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from everycell.base.csv_files import read_columns
from everycell.jobs.result_job import ResultJob
from everycell.trec.runs import read_qrels

COLUMNS = ["document", "relevance", "text"]
#: Levels of relevance of the planted passages; the lower one has too many.
HIGH, LOW = 4, 3
#: Words that all planted passages share, and words of one group.
COMMON, OWN = 30, 12


def level_quotas(levels: Iterable[int], size: int) -> dict[int, int]:
    """Passages to take of each level, from the highest down, until there are `size`."""
    quotas, remaining = {}, size
    for level, number in sorted(Counter(levels).items(), reverse=True):
        quotas[level] = min(number, remaining)
        remaining -= quotas[level]
    return {level: number for level, number in quotas.items() if number}


def choose_passages(
    passages: pd.DataFrame, *, size: int, seed: int, clusters: bool = True
) -> list[str]:
    """Choose passages of a question; without clusters, a level with too many is drawn from."""
    selection: list[str] = []
    for level, number in level_quotas(passages["relevance"], size).items():
        group = passages[passages["relevance"] == level]
        documents = group["document"].tolist()
        if number < len(group):
            draw = np.random.default_rng([seed, level])
            parts = [documents]
            if clusters and number > 1:
                parts = _clusters(documents, group["text"].tolist(), number, seed)
            documents = _draw(parts, number, draw)
        selection += documents
    return selection


def _clusters(
    documents: Sequence[str], texts: Sequence[str], number: int, seed: int
) -> list[list[str]]:
    vectors = TfidfVectorizer().fit_transform(texts)
    labels = KMeans(number, n_init=10, random_state=seed).fit_predict(vectors)
    pairs = list(zip(documents, labels, strict=True))
    return [
        [document for document, label in pairs if label == cluster] for cluster in np.unique(labels)
    ]


def _draw(parts: Sequence[Sequence[str]], number: int, draw: np.random.Generator) -> list[str]:
    """Draw one document of each part, and more if there are fewer parts than documents to draw."""
    first = [part[int(draw.integers(len(part)))] for part in parts][:number]
    remaining = [document for part in parts for document in part if document not in first]
    more = draw.choice(len(remaining), number - len(first), replace=False)
    return [*first, *(remaining[index] for index in more)]


def planted_passages(
    *, groups: int, largest: int, high: int, seed: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Passages of a question in groups of similar texts, and the group of each.

    Groups at the lower level have up to `largest` passages each; some have one, so that drawing
    among all passages favours large groups.
    """
    draw = np.random.default_rng(seed)
    rows, group_of = [], {}
    for group in range(groups + high):
        number = 1 if group >= groups else 1 + group * (largest - 1) // max(groups - 1, 1)
        for copy in range(number):
            words = [f"own{group}x{word}" for word in draw.integers(0, OWN, 20)]
            words += [f"word{word}" for word in draw.integers(0, COMMON, 10)]
            document = f"{group}-{copy}"
            rows.append((document, HIGH if group >= groups else LOW, " ".join(words)))
            group_of[document] = group
    return pd.DataFrame(rows, columns=COLUMNS), group_of


def planted_choice(job: ResultJob) -> None:
    """Text 5.4.1 on planted passages: groups that a choice covers, with and without clusters."""
    params = job.params
    rows = []
    for row, clusters in (("k-means", True), ("at random", False)):
        covered, complete = [], []
        for question in range(params.questions):
            passages, group_of = planted_passages(**params.planted, seed=params.seed + question)
            selection = choose_passages(
                passages, size=params.size, seed=params.seed + question, clusters=clusters
            )
            covered.append(len({group_of[document] for document in selection}))
            high = set(passages.loc[passages["relevance"] == HIGH, "document"])
            complete.append(high <= set(selection))
        rows += [
            (row, "questions", params.questions),
            (row, "levels as by the rule", sum(complete)),
            (row, "groups of texts", float(np.mean(covered))),
        ]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))


def released_choice(job: ResultJob) -> None:
    """Text 5.4.1: questions of CAsT'20 whose passages have the levels that the rule gives."""
    columns = {"Input.turn_id": "query", "Input.relevance_score": "relevance"}
    released = read_columns(Path(job.input.snippets), list(columns)).rename(columns=columns)
    qrels = read_qrels(Path(job.input.qrels))
    judged = {query: part["relevance"].tolist() for query, part in qrels.groupby("query")}
    matches = {
        query: dict(Counter(part["relevance"].astype(float).astype(int)))
        == level_quotas(judged[query], job.params.size)
        for query, part in released.groupby("query")
        if query in judged
    }
    rows = [
        ("CAsT’20", "questions", len(matches)),
        ("CAsT’20", "levels as by the rule", sum(matches.values())),
    ]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))
