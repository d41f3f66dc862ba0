"""Queries with candidate lists to train and test rankers on, for any collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from everycell.collections.query_by_example import (
    candidate_lists,
    split_queries,
    training_positives,
)


@dataclass(frozen=True)
class Benchmark:
    """Queries and candidate lists that systems are trained and tested on.

    Attributes
    ----------
    queries : pandas.DataFrame
        `task`, `query_id`, `split` ("test", "validation", "train"), `origin_id` (the document that
        the query is derived from, or searches for) and `text`.
    candidates : pandas.DataFrame
        `setting`, `task`, `split`, `query_id`, `document_id`, `relevance` (1 or 0): the documents
        to rank. The rows of a setting, task and split are also its relevance judgements (qrels).
        Training queries without a training pair have no rows.
    """

    queries: pd.DataFrame
    candidates: pd.DataFrame


def linked_benchmark(
    positives: pd.DataFrame,
    excluded: pd.DataFrame,
    documents: pd.DataFrame,
    *,
    test: int,
    validation: int,
    seed: int,
    settings: Sequence[str],
) -> Benchmark:
    """Benchmark of tasks whose queries are documents of the collection.

    All tasks share one split: no pair of a test or validation query, in any task or direction, is
    among the relevant pairs for training. A document that is relevant to a query in one task is not
    a negative for this query in another.
    """
    split = split_queries(positives, test=test, validation=validation, seed=seed)
    text = documents.set_index("document_id")["text"]
    queries = split.assign(origin_id=split["query_id"], text=split["query_id"].map(text))
    pairs = ["query_id", "document_id"]
    excluded_pairs = pd.concat([positives[pairs], excluded[pairs]], ignore_index=True)
    is_training = queries["split"] == "train"
    lists = [
        candidate_lists(
            queries[~is_training], positives, excluded_pairs, documents, setting=setting, seed=seed
        )
        for setting in settings
    ]
    lists.append(
        candidate_lists(
            queries[is_training],
            training_positives(positives, split),
            excluded_pairs,
            documents,
            setting=settings[0],
            seed=seed,
        )
    )
    return Benchmark(queries, pd.concat(lists, ignore_index=True))


def listed_pairs(
    candidates: pd.DataFrame,
    *,
    splits: Sequence[str],
    settings: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Distinct query-document pairs that systems must score."""
    is_listed = candidates["split"].isin(splits)
    for column, allowed in (("setting", settings), ("task", tasks)):
        if allowed is not None:
            is_listed &= candidates[column].isin(allowed)
    pairs = candidates.loc[is_listed, ["query_id", "document_id"]].drop_duplicates(
        ignore_index=True
    )
    return pairs.set_axis(["query", "document"], axis="columns")


def judgements(candidates: pd.DataFrame, *, setting: str, task: str, split: str) -> pd.DataFrame:
    """Candidate lists of one task as relevance judgements (qrels)."""
    is_listed = (
        (candidates["setting"] == setting)
        & (candidates["task"] == task)
        & (candidates["split"] == split)
    )
    if not is_listed.any():
        raise ValueError(
            f"No candidate list has setting {setting!r}, task {task!r} and split {split!r}: use a "
            f"setting from {sorted(set(candidates['setting']))}, a task from "
            f"{sorted(set(candidates['task']))} and a split from "
            f"{sorted(set(candidates['split']))}."
        )
    lists = candidates.loc[is_listed, ["query_id", "document_id", "relevance"]]
    return lists.set_axis(["query", "document", "relevance"], axis="columns").reset_index(drop=True)


def texts_by_id(frame: pd.DataFrame, key: str) -> dict[str, str]:
    """Map the ids of documents or queries to their first texts."""
    first = frame.drop_duplicates(key)
    return dict(zip(first[key], first["text"], strict=True))


def check_texts(documents: pd.DataFrame, queries: pd.DataFrame, candidates: pd.DataFrame) -> None:
    """Raise an error if a collection has duplicate or unknown ids."""
    duplicates = documents.loc[documents["document_id"].duplicated(), "document_id"]
    if len(duplicates):
        raise ValueError(
            f"The document id {duplicates.iloc[0]!r} occurs twice: each document needs a unique id."
        )
    texts = queries[["query_id", "text"]].drop_duplicates()
    ambiguous = texts.loc[texts["query_id"].duplicated(), "query_id"]
    if len(ambiguous):
        raise ValueError(
            f"The query id {ambiguous.iloc[0]!r} has two texts: each query needs a unique id."
        )
    for column, known in (("document_id", documents), ("query_id", queries)):
        unknown = candidates.loc[~candidates[column].isin(known[column]), column]
        if len(unknown):
            raise ValueError(
                f"The candidate lists contain the {column} {unknown.iloc[0]!r}, which is not in "
                "the collection: add it, or remove its rows."
            )
