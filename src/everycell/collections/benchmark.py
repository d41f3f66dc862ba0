"""Queries with candidate lists to train and test rankers on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from everycell.base.errors import DataError


@dataclass(frozen=True)
class Benchmark:
    """Queries and candidate lists that systems are trained and tested on.

    Attributes
    ----------
    queries : pandas.DataFrame
        `task`, `query`, `split` ("test", "validation", "train"), `origin_id` (the document that
        the query is derived from, or searches for) and `text`.
    candidates : pandas.DataFrame
        `setting`, `task`, `split`, `query`, `document_id`, `relevance` (1 or 0): the documents
        to rank. The rows of a setting, task and split are also its relevance judgements (qrels).
        Training queries without a training pair have no rows.
    """

    queries: pd.DataFrame
    candidates: pd.DataFrame


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
    pairs = candidates.loc[is_listed, ["query", "document_id"]].drop_duplicates(ignore_index=True)
    return pairs.set_axis(["query", "document"], axis="columns")


def judgements(candidates: pd.DataFrame, *, setting: str, task: str, split: str) -> pd.DataFrame:
    """Candidate lists of one task as relevance judgements (qrels)."""
    is_listed = (
        (candidates["setting"] == setting)
        & (candidates["task"] == task)
        & (candidates["split"] == split)
    )
    if not is_listed.any():
        raise DataError(
            row=f"setting {setting}, task {task}, split {split}", fault="has no candidate lists"
        )
    lists = candidates.loc[is_listed, ["query", "document_id", "relevance"]]
    return lists.set_axis(["query", "document", "relevance"], axis="columns").reset_index(drop=True)


def texts_by_id(frame: pd.DataFrame, key: str) -> dict[str, str]:
    """Map the ids of documents or queries to their first texts."""
    first = frame.drop_duplicates(key)
    return dict(zip(first[key], first["text"], strict=True))


def check_texts(documents: pd.DataFrame, queries: pd.DataFrame, candidates: pd.DataFrame) -> None:
    """Raise an error if a collection has duplicate or unknown ids."""
    duplicates = documents.loc[documents["document_id"].duplicated(), "document_id"]
    if len(duplicates):
        raise DataError(
            column="document_id",
            value=duplicates.iloc[0],
            fault="which occurs twice",
            fix="remove one of the two",
        )
    texts = queries[["query", "text"]].drop_duplicates()
    ambiguous = texts.loc[texts["query"].duplicated(), "query"]
    if len(ambiguous):
        raise DataError(
            column="query",
            value=ambiguous.iloc[0],
            fault="which has two texts",
            fix="use one text",
        )
    for column, known in (("document_id", documents), ("query", queries)):
        unknown = candidates.loc[~candidates[column].isin(known[column]), column]
        if len(unknown):
            raise DataError(
                row="the candidate lists",
                column=column,
                value=unknown.iloc[0],
                fault="which is not in the collection",
                fix="add it, or remove its rows",
            )
