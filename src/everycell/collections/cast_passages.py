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

from everycell.base.csv_files import read_table, reject_rows
from everycell.base.errors import CollectionError
from everycell.base.untrusted import in_quotes
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
_TURN = r"(?P<topic>[1-9]\d*)_(?P<turn>[1-9]\d*(?:-[1-9]\d*)?)"


@dataclass(frozen=True)
class CastCounts:
    """Sizes: rows, passage ids, distinct texts (documents), judged pairs, turns and topics."""

    rows: int
    passages: int
    documents: int
    judgements: int
    turns: int
    topics: int


#: Sizes of the released files.
COUNTS = CastCounts(rows=3710, passages=3523, documents=3518, judgements=3708, turns=371, topics=42)


@dataclass(frozen=True)
class CastPassages:
    """Documents, queries, qrels and merged duplicates; ids are strings."""

    documents: pd.DataFrame
    queries: pd.DataFrame
    qrels: pd.DataFrame
    merged: pd.DataFrame
    counts: CastCounts


def read_cast_passages(
    answerable: Path, unanswerable: Path, *, counts: CastCounts | None = COUNTS
) -> CastPassages:
    """Read the two files, merge duplicates, and check the result."""
    rows = pd.concat([_rows(answerable, "Input."), _rows(unanswerable, "")], ignore_index=True)
    passages = rows.drop_duplicates("passage_id").sort_values("passage_id")
    document_of = passages.groupby("text")["passage_id"].transform("first")
    is_first = passages["passage_id"] == document_of
    documents = passages[is_first].rename(columns={"passage_id": "document_id"})
    merged = passages.assign(document_id=document_of)[~is_first]
    rows["document_id"] = rows["passage_id"].map(
        pd.Series(document_of.to_numpy(), index=passages["passage_id"])
    )
    pairs = rows[["query_id", "document_id", "relevance"]].drop_duplicates()
    files = f"{answerable} and {unanswerable}"
    _check_unique(pairs, ["query_id", "document_id"], "relevance", files)
    queries = rows[["query_id", "topic", "turn", "query"]].drop_duplicates()
    _check_unique(queries, ["query_id"], "query", files)
    sizes = CastCounts(
        rows=len(rows),
        passages=len(passages),
        documents=len(documents),
        judgements=len(pairs),
        turns=len(queries),
        topics=queries["topic"].nunique(),
    )
    if counts is not None and sizes != counts:
        raise CollectionError(
            f"{files} contain {sizes}, expected {counts}; delete them and fetch them again."
        )
    return CastPassages(
        documents[["document_id", "text"]].reset_index(drop=True),
        queries.rename(columns={"query": "text"}).reset_index(drop=True),
        pairs.reset_index(drop=True),
        merged[["passage_id", "document_id"]].reset_index(drop=True),
        sizes,
    )


def _rows(path: Path, prefix: str) -> pd.DataFrame:
    """Read a file: query_id, topic, turn, query, passage_id, text, relevance."""
    raw = read_table(path, [prefix + column for column in _COLUMNS])
    rows = raw[[prefix + column for column in _COLUMNS]].set_axis(_COLUMNS, axis="columns")
    turns = rows["turn_id"].str.extract(f"^{_TURN}$")
    text, query = (rows[column].str.split().str.join(" ") for column in ("passage", "query"))
    checks = (
        ("turn_id", turns["topic"].isna(), "such as 81_4 or 135_2-11"),
        ("relevance_score", ~rows["relevance_score"].str.fullmatch("[0-4]"), "from 0 to 4"),
        ("passage_id", rows["passage_id"] == "", "an id"),
        ("passage", text == "", "a non-empty text"),
        ("query", query == "", "a non-empty text"),
    )
    for column, bad, allowed in checks:
        reject_rows(path, raw, prefix + column, bad, allowed)
    return pd.DataFrame(
        {
            "query_id": rows["turn_id"],
            "topic": turns["topic"],
            "turn": turns["turn"],
            "query": query,
            "passage_id": rows["passage_id"],
            "text": text,
            "relevance": rows["relevance_score"].astype("int64"),
        }
    )


def _check_unique(rows: pd.DataFrame, keys: list[str], value: str, files: str) -> None:
    """Raise an error if a key has two values."""
    is_duplicate = rows.duplicated(keys)
    if is_duplicate.any():
        key = rows.loc[is_duplicate.idxmax(), keys]
        values = rows.loc[(rows[keys] == key).all(axis="columns"), value].tolist()
        raise CollectionError(
            f"{files}: the {value} of {' and '.join(map(in_quotes, key))} has the values "
            f"{in_quotes(values, 300)}; expected one, so delete the files and fetch them again."
        )


def topic_folds(collection: CastPassages, *, folds: int = 5, seed: int = 0) -> pd.DataFrame:
    """Divide the conversations into folds with about the same number of turns.

    Conversations that share a judged document are assigned to the same fold, so no conversation and
    no judged document is in two folds.
    """
    topics = sorted(set(collection.queries["topic"]))
    topic_of = collection.queries.set_index("query_id")["topic"]
    topic = pd.Categorical(collection.qrels["query_id"].map(topic_of), topics).codes
    documents, _ = pd.factorize(collection.qrels["document_id"])
    shape = (len(topics), int(documents.max(initial=-1)) + 1)
    # Imported here because rules import this module, and scipy would delay Snakemake by 0.2 s.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    judged = coo_array((np.ones(len(topic)), (topic, documents)), shape).tocsr()
    blocks, block_of = connected_components(judged @ judged.T, directed=False)
    if not 2 <= folds <= blocks:
        raise ValueError(
            f"folds is {folds}; it must be from 2 to {blocks}, the number of groups of "
            "conversations that share no judged document."
        )
    block_of_query = block_of[pd.Categorical(collection.queries["topic"], topics).codes]
    sizes = np.bincount(block_of_query, minlength=blocks)
    order = np.random.default_rng(seed).permutation(blocks)
    fold_of = np.empty(blocks, dtype=np.int64)
    turns = np.zeros(folds, dtype=np.int64)
    for block in order[np.argsort(-sizes[order], kind="stable")]:
        fold_of[block] = turns.argmin()
        turns[fold_of[block]] += sizes[block]
    return collection.queries[["query_id", "topic"]].assign(fold=fold_of[block_of_query])


def cast_benchmark(collection: CastPassages, *, relevant_from: int = RELEVANT_FROM) -> Benchmark:
    """Candidate lists of all turns, for systems that are not trained on this collection."""
    if relevant_from not in range(1, 5):
        raise ValueError(f"relevant_from is {relevant_from}; it must be from 1 to 4.")
    queries = collection.queries.assign(task=TASK, split="test", origin_id="")
    judged = collection.qrels.sort_values(["query_id", "document_id"])
    judged = judged.assign(relevance=(judged["relevance"] >= relevant_from).astype("int64"))
    topics = queries[["query_id", "topic"]]
    pool = judged.merge(topics)[["topic", "document_id"]].drop_duplicates()
    wide = topics.merge(pool).merge(judged, "left").fillna({"relevance": 0})
    wide = wide.astype({"relevance": "int64"}).sort_values(["query_id", "document_id"])
    lists = [
        frame.assign(setting=setting, task=TASK, split="test")
        for setting, frame in zip(SETTINGS, (judged, wide), strict=True)
    ]
    columns = ["setting", "task", "split", "query_id", "document_id", "relevance"]
    return Benchmark(
        queries[["task", "query_id", "split", "origin_id", "text"]],
        pd.concat(lists, ignore_index=True)[columns],
    )


def assign_splits(benchmark: Benchmark, folds: pd.DataFrame, fold: int) -> Benchmark:
    """Split a benchmark into test (one fold), validation (the next fold) and training queries."""
    fold_count = folds["fold"].max() + 1
    if fold_count < 3 or fold not in range(fold_count):
        raise ValueError(
            f"fold is {fold} and there are {fold_count} folds; use at least 3, numbered from 0."
        )
    unknown = set(benchmark.queries["query_id"]) - set(folds["query_id"])
    if unknown:
        raise ValueError(f"The query {min(unknown)!r} is in no fold; assign every query to a fold.")
    split_of_fold = {fold: "test", (fold + 1) % fold_count: "validation"}
    splits = folds["fold"].map(split_of_fold).fillna("train")
    split_of = pd.Series(splits.to_numpy(), index=folds["query_id"])
    return Benchmark(
        *(
            frame.assign(split=frame["query_id"].map(split_of))
            for frame in (benchmark.queries, benchmark.candidates)
        )
    )
