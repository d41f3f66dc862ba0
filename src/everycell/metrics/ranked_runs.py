"""Runs with ranks, checked and grouped by query, for measures that compare two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.engine.arrays import IntArray
from everycell.engine.frames import check_columns
from everycell.engine.untrusted import in_quotes


class GroupedRun(NamedTuple):
    """Rows of a run, query by query; ranks count from 0."""

    queries: pd.Index
    starts: IntArray
    documents: pd.Series
    ranks: IntArray


def group_by_query(run: pd.DataFrame, name: str) -> GroupedRun:
    """Rows of each query, whose ranks have no gaps and no repeats."""
    codes, queries = pd.factorize(run["query"], use_na_sentinel=False)
    sizes = np.bincount(codes)
    starts = np.append(0, sizes.cumsum())
    ranks = run["rank"].to_numpy(dtype=np.int64) - 1
    within = (ranks >= 0) & (ranks < sizes[codes])
    if not within.all() or np.bincount(starts[codes] + ranks).max() > 1:
        expected = run["rank"].groupby(codes).rank(method="first")
        row = int((expected != run["rank"]).to_numpy().argmax())
        raise ValueError(
            f"Row {row} of the {name} run has the rank {run['rank'].iloc[row]} of query "
            f"{run['query'].iloc[row]!r}; ranks go from 1 without gaps or repeats, so renumber "
            "them."
        )
    documents = run["document"]
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        documents, ranks = documents.iloc[order], ranks[order]
    return GroupedRun(pd.Index(queries), starts, documents, ranks)


def refuse_doubles(runs: list[pd.DataFrame]) -> None:
    """Refuse runs with a document twice for a query, and name the first such row."""
    for run, name in zip(runs, ("original", "counterfactual"), strict=True):
        twice = run.duplicated(["query", "document"]).to_numpy()
        if twice.any():
            row = int(twice.argmax())
            raise ValueError(
                f"Row {row} of the {name} run has the document {run['document'].iloc[row]!r} of "
                f"query {run['query'].iloc[row]!r} for the second time; keep one of the two."
            )


def checked_ranked_run(run: pd.DataFrame, name: str) -> pd.DataFrame:
    """A run with ids of plain types, after a check of its columns, ids and ranks."""
    check_columns(f"The {name} run", run.columns, ("query", "document", "rank"))
    if run.empty:
        raise ValueError(f"The {name} run has no rows; give it one or more.")
    run = run.assign(**{column: _plain(run[column]) for column in ("query", "document")})
    for column in ("query", "document"):
        if (missing := run[column].isna()).any():
            raise ValueError(
                f"The column {column!r} of the {name} run has no id in {missing.sum()} rows, the "
                f"first of them row {missing.to_numpy().argmax()} (from 0): give each row an id, "
                "or leave those rows out."
            )
    if not pd.api.types.is_integer_dtype(run["rank"]):
        raise ValueError(
            f"The column 'rank' of the {name} run has the type {run['rank'].dtype} and begins with "
            f"{run['rank'].tolist()[0]!r}; ranks are whole numbers from 1, so convert it with "
            "astype(int)."
        )
    return run


def _plain(ids: pd.Series) -> pd.Series:
    """Ids of a categorical column, with the type of its categories."""
    return (
        ids.astype(ids.cat.categories.dtype) if isinstance(ids.dtype, pd.CategoricalDtype) else ids
    )


def check_same_kind_of_ids(original: pd.DataFrame, counterfactual: pd.DataFrame) -> None:
    """Refuse ids of two types: 1 and "1" differ, and pandas compares them without a warning."""
    for column in ("query", "document"):
        runs = (original, counterfactual)
        first, second = (run[column].head(1).tolist()[0] for run in runs)
        # A column of objects may mix types; any other one is known by its first id.
        kinds = [
            pd.api.types.infer_dtype(
                run[column] if run[column].dtype == object else run[column][:1]
            )
            for run in runs
        ]
        if kinds[0] != kinds[1]:
            raise ValueError(
                f"The column {column!r} holds {kinds[0]} ids such as {in_quotes(first)} in the "
                f"original run and {kinds[1]} ids such as {in_quotes(second)} in the "
                "counterfactual one; give both runs text, with astype(str)."
            )
