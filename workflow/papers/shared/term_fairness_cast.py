"""Passages and rewritten turns of TREC CAsT 2020 and 2022 as a test collection.

Source: the files of Lajewska and Balog, "Towards Reliable and Factual Response Generation" (ECIR
2024).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.csv_files import read_columns
from everycell.base.errors import DataError
from everycell.collections.benchmark import Benchmark

#: Registry keys of the released files.
FILES: Mapping[str, str] = {
    "answerable": "cast-answerability/snippets_sentence_answerability.csv",
    "unanswerable": "cast-answerability/unanswerable_passages.csv",
}
#: Lowest level that CAsT counts as relevant in measures with binary relevance.
RELEVANT_FROM = 2
#: Candidates of a turn: passages judged for the turn, or for any turn of its conversation.
SETTINGS = ("judged", "topic")
TASK = "cast"

_COLUMNS = ("turn_id", "query", "passage_id", "passage", "relevance_score")


@dataclass(frozen=True)
class CastPassages:
    """Documents, queries, qrels and merged duplicates; ids are strings."""

    documents: pd.DataFrame
    queries: pd.DataFrame
    qrels: pd.DataFrame
    merged: pd.DataFrame


def read_cast_passages(answerable: Path, unanswerable: Path) -> CastPassages:
    """Read the two files, and merge duplicates."""
    rows = pd.concat([_rows(answerable, "Input."), _rows(unanswerable, "")], ignore_index=True)
    passages = rows.drop_duplicates("passage_id").sort_values("passage_id")
    document_of = passages.groupby("text")["passage_id"].transform("first")
    is_first = passages["passage_id"] == document_of
    documents = passages[is_first].rename(columns={"passage_id": "document_id"})
    merged = passages.assign(document_id=document_of)[~is_first]
    rows["document_id"] = rows["passage_id"].map(
        pd.Series(document_of.to_numpy(), index=passages["passage_id"])
    )
    queries = rows[["query", "topic", "turn", "question"]].drop_duplicates()
    pairs = rows[["query", "document_id", "relevance"]].drop_duplicates()
    return CastPassages(
        documents[["document_id", "text"]].reset_index(drop=True),
        queries.rename(columns={"question": "text"}).reset_index(drop=True),
        pairs.reset_index(drop=True),
        merged[["passage_id", "document_id"]].reset_index(drop=True),
    )


def _rows(path: Path, prefix: str) -> pd.DataFrame:
    """Read a file: query, topic, turn, question, passage_id, text, relevance."""
    raw = read_columns(path, [prefix + column for column in _COLUMNS])
    raw.columns = pd.Index(_COLUMNS)
    turns = raw["turn_id"].str.extract("^(?P<topic>.+?)_(?P<turn>.+)$")
    text, question = (raw[column].str.split().str.join(" ") for column in ("passage", "query"))
    return pd.DataFrame(
        {
            "query": raw["turn_id"],
            "topic": turns["topic"],
            "turn": turns["turn"],
            "question": question,
            "passage_id": raw["passage_id"],
            "text": text,
            "relevance": raw["relevance_score"].astype("int64"),
        }
    )


def topic_folds(collection: CastPassages, *, folds: int = 5, seed: int = 0) -> pd.DataFrame:
    """Divide the conversations into folds with about the same number of turns.

    Conversations that share a judged document are assigned to the same fold, so no conversation and
    no judged document is in two folds.
    """
    topics = sorted(set(collection.queries["topic"]))
    topic_of = collection.queries.set_index("query")["topic"]
    topic = pd.Categorical(collection.qrels["query"].map(topic_of), topics).codes
    documents, _ = pd.factorize(collection.qrels["document_id"])
    shape = (len(topics), int(documents.max(initial=-1)) + 1)
    # Imported here because rules import this module, and scipy would delay Snakemake by 0.2 s.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    judged = coo_array((np.ones(len(topic)), (topic, documents)), shape).tocsr()
    blocks, block_of = connected_components(judged @ judged.T, directed=False)
    if not 2 <= folds <= blocks:
        raise DataError(
            column="folds",
            value=folds,
            expected=f"2 to {blocks}, the number of groups that share no document",
        )
    block_of_query = block_of[pd.Categorical(collection.queries["topic"], topics).codes]
    sizes = np.bincount(block_of_query, minlength=blocks)
    order = np.random.default_rng(seed).permutation(blocks)
    fold_of = np.empty(blocks, dtype=np.int64)
    turns = np.zeros(folds, dtype=np.int64)
    for block in order[np.argsort(-sizes[order], kind="stable")]:
        fold_of[block] = turns.argmin()
        turns[fold_of[block]] += sizes[block]
    return collection.queries[["query", "topic"]].assign(fold=fold_of[block_of_query])


def cast_benchmark(collection: CastPassages, *, relevant_from: int = RELEVANT_FROM) -> Benchmark:
    """Candidate lists of all turns, for systems that are not trained on this collection."""
    if relevant_from not in range(1, 5):
        raise DataError(column="relevant_from", value=relevant_from, expected="1 to 4")
    queries = collection.queries.assign(task=TASK, split="test", origin_id="")
    judged = collection.qrels.sort_values(["query", "document_id"])
    judged = judged.assign(relevance=(judged["relevance"] >= relevant_from).astype("int64"))
    topics = queries[["query", "topic"]]
    pool = judged.merge(topics)[["topic", "document_id"]].drop_duplicates()
    wide = topics.merge(pool).merge(judged, "left").fillna({"relevance": 0})
    wide = wide.astype({"relevance": "int64"}).sort_values(["query", "document_id"])
    lists = [
        frame.assign(setting=setting, task=TASK, split="test")
        for setting, frame in zip(SETTINGS, (judged, wide), strict=True)
    ]
    columns = ["setting", "task", "split", "query", "document_id", "relevance"]
    return Benchmark(
        queries[["task", "query", "split", "origin_id", "text"]],
        pd.concat(lists, ignore_index=True)[columns],
    )


def assign_splits(benchmark: Benchmark, folds: pd.DataFrame, fold: int) -> Benchmark:
    """Split a benchmark into test (one fold), validation (the next fold) and training queries."""
    fold_count = folds["fold"].max() + 1
    split_of_fold = {fold: "test", (fold + 1) % fold_count: "validation"}
    splits = folds["fold"].map(split_of_fold).fillna("train")
    split_of = pd.Series(splits.to_numpy(), index=folds["query"])
    return Benchmark(
        *(
            frame.assign(split=frame["query"].map(split_of))
            for frame in (benchmark.queries, benchmark.candidates)
        )
    )
