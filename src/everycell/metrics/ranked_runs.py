"""Runs with ranks, checked and grouped by query, for measures that compare two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.arrays import IntArray
from everycell.base.frames import check_columns
from everycell.base.untrusted import in_quotes


class GroupedRun(NamedTuple):
    """Rows of a run, grouped by query; ranks start at 0."""

    queries: pd.Index
    starts: IntArray
    documents: pd.Series
    ranks: IntArray


def group_by_query(run: pd.DataFrame, name: str) -> GroupedRun:
    """Group the rows of a run by query; check that ranks have no gaps or repeats."""
    codes, queries = pd.factorize(run["query"], use_na_sentinel=False)
    sizes = np.bincount(codes)
    starts = np.append(0, sizes.cumsum())
    ranks = run["rank"].to_numpy(dtype=np.int64) - 1
    in_range = (ranks >= 0) & (ranks < sizes[codes])
    if not in_range.all() or np.bincount(starts[codes] + ranks).max() > 1:
        expected = run["rank"].groupby(codes).rank(method="first")
        row = int((expected != run["rank"]).to_numpy().argmax())
        raise ValueError(
            f"Row {row} of the {name} run has the rank {run['rank'].iloc[row]} for query "
            f"{run['query'].iloc[row]!r}; number ranks from 1 without gaps or repeats."
        )
    documents = run["document"]
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        documents, ranks = documents.iloc[order], ranks[order]
    return GroupedRun(pd.Index(queries), starts, documents, ranks)


def refuse_duplicates(runs: list[pd.DataFrame]) -> None:
    """Raise an error at the first document that a run lists twice for a query."""
    for run, name in zip(runs, ("original", "counterfactual"), strict=True):
        duplicated = run.duplicated(["query", "document"]).to_numpy()
        if duplicated.any():
            row = int(duplicated.argmax())
            raise ValueError(
                f"Row {row} of the {name} run repeats the document {run['document'].iloc[row]!r} "
                f"for query {run['query'].iloc[row]!r}; remove one of the two rows."
            )


def checked_ranked_run(run: pd.DataFrame, name: str) -> pd.DataFrame:
    """Check the columns, ids and ranks of a run; convert categorical ids to plain types."""
    check_columns(f"The {name} run", run.columns, ("query", "document", "rank"))
    if run.empty:
        raise ValueError(f"The {name} run has no rows; give one or more.")
    run = run.assign(**{column: _plain(run[column]) for column in ("query", "document")})
    for column in ("query", "document"):
        if (missing := run[column].isna()).any():
            raise ValueError(
                f"The column {column!r} of the {name} run has no id in {missing.sum()} rows "
                f"(first: row {missing.to_numpy().argmax()}, counted from 0); add the ids, or "
                "remove those rows."
            )
    if not pd.api.types.is_integer_dtype(run["rank"]):
        raise ValueError(
            f"The column 'rank' of the {name} run has the type {run['rank'].dtype} (first value: "
            f"{run['rank'].tolist()[0]!r}); ranks must be integers from 1, so convert them with "
            "astype(int)."
        )
    return run


def _plain(ids: pd.Series) -> pd.Series:
    """Ids of a categorical column, with the type of its categories."""
    return (
        ids.astype(ids.cat.categories.dtype) if isinstance(ids.dtype, pd.CategoricalDtype) else ids
    )


def check_same_kind_of_ids(original: pd.DataFrame, counterfactual: pd.DataFrame) -> None:
    """Raise an error if ids have different types, since 1 and "1" would silently not match."""
    for column in ("query", "document"):
        runs = (original, counterfactual)
        first, second = (run[column].head(1).tolist()[0] for run in runs)
        # Only a column of objects can mix types; in any other, the first id is enough.
        kinds = [
            pd.api.types.infer_dtype(
                run[column] if run[column].dtype == object else run[column][:1]
            )
            for run in runs
        ]
        if kinds[0] != kinds[1]:
            raise ValueError(
                f"The column {column!r} has {kinds[0]} ids such as {in_quotes(first)} in the "
                f"original run and {kinds[1]} ids such as {in_quotes(second)} in the "
                "counterfactual run; convert both to strings with astype(str)."
            )
