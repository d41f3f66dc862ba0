"""Counterfactually estimated rank-biased overlap (CRBO): RBO of each query of two runs.

For `ir_measures`, ``RBO(run='bm25.run')@10`` has these parameters:

==================  ==============================================================
parameter           meaning
==================  ==============================================================
cut-off (required)  number of documents considered in both runs
``run`` (required)  the run to compare with, in TREC format, with the same queries
``p``               persistence, 0.9 by default
==================  ==============================================================

Values are those of `crbo`, in [0, 1]. A query without results has no value. The qrels only
determine the set of queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from ir_measures import ParamInfo

from everycell.base.arrays import IntArray
from everycell.base.errors import DataError, require
from everycell.base.frames import check_columns
from everycell.base.untrusted import in_quotes
from everycell.metrics.rbo import PERSISTENCE, Prefixes, Variant, check_arguments, rbo_of_prefixes
from everycell.metrics.run_measure import CUTOFF, RunMeasure, register, top_documents
from everycell.trec.runs import read_run


def crbo(
    original: pd.DataFrame,
    counterfactual: pd.DataFrame,
    p: float = PERSISTENCE,
    *,
    depth: int = 10,
    variant: Variant = "ext",
) -> pd.Series:
    """Counterfactually estimated RBO: overlap between rankings before and after a group swap.

    Parameters
    ----------
    original, counterfactual : pandas.DataFrame
        Runs on the collection and on its counterfactual, in which documents keep their ids:
        columns ``query``, ``document`` and ``rank`` (integers from 1, without gaps or repeats).
        Break ties before the call, for example as trec_eval does.
    p : float
        Persistence, in (0, 1), as for `rbo`.
    depth : int
        Number of documents to compare, 1 or more; shorter lists are compared in full.
    variant : {"ext", "min", "truncated"}
        As for `rbo`. The thesis does not state its variant. With p = 0.9 and ten documents,
        "truncated" is at most 0.651 and "min" at most 0.856, so the values of the thesis (0.95 to
        0.98) must be "ext" if they compare ten documents.

    Returns
    -------
    pandas.Series, shape (Q,)
        RBO of each query, in the order of `original`; index ``query``. With "ext", 1 if the swap
        does not change the ranking: no bias. The thesis reports the mean.

    Raises
    ------
    ValueError
        A missing or duplicate column, ranks that are not integers or have gaps or repeats, a
        document listed twice for a query, different queries in the two runs, ids that are strings
        in one run and numbers in the other, a depth below 1, or as for `rbo`.

    Notes
    -----
    Source: abolghasemi2026, section 4.5 (iii).

    Examples
    --------
    >>> run = pd.DataFrame({"query": "q", "document": ["a", "b"], "rank": [1, 2]})
    >>> swapped = run.assign(rank=[2, 1])
    >>> crbo(run, run).tolist(), crbo(run, swapped).round(2).tolist()
    ([1.0], [0.9])
    """
    check_arguments(p, variant)
    require(depth >= 1, "depth", depth, "1 document or more")
    names = "original", "counterfactual"
    runs = [
        _check_run(run, f"{name} run")
        for run, name in zip((original, counterfactual), names, strict=True)
    ]
    _check_same_kind_of_ids(*runs)
    grouped = [_group_by_query(run, f"{name} run") for run, name in zip(runs, names, strict=True)]
    queries = grouped[0].queries
    for run, counterpart, name in zip(grouped, grouped[::-1], names, strict=True):
        unmatched_queries = run.queries.difference(counterpart.queries, sort=False)
        if len(unmatched_queries):
            raise DataError(
                column="query",
                value=unmatched_queries.tolist()[0],
                fault=f"which only the {name} run has",
                fix="use the same queries in both runs",
            )
    rows = grouped[1].queries.get_indexer(queries)
    ids = pd.concat([run.documents for run in grouped], ignore_index=True)
    if ids.dtype == object:
        # Arrow does not accept objects of several types.
        ids = pd.Series(pd.factorize(ids)[0])
    documents = pa.table({"document": ids})["document"].combine_chunks()
    second_start = len(runs[0])
    lengths = np.diff(grouped[0].starts), np.diff(grouped[1].starts)[rows]
    overlap = np.zeros((len(queries), depth))
    # The hash table of one query stays in the processor's cache; one of all documents does not.
    for query, row in enumerate(rows):
        ranks = [
            run.ranks[run.starts[number] : run.starts[number + 1]]
            for run, number in zip(grouped, (query, row), strict=True)
        ]
        lists = (
            documents.slice(grouped[0].starts[query], len(ranks[0])),
            documents.slice(second_start + grouped[1].starts[row], len(ranks[1])),
        )
        codes = pa.concat_arrays(lists).dictionary_encode().indices.to_numpy()
        first, second = codes[: len(ranks[0])], codes[len(ranks[0]) :]
        second_ranks = np.full(codes.max() + 1, depth)
        second_ranks[second] = ranks[1]
        # Codes are given in the order of first occurrence, so the last one shows any duplicate.
        if first[-1] != len(first) - 1 or (second_ranks[second] != ranks[1]).any():
            _refuse_duplicates(runs)
        # A document is in the overlap from the larger of its two ranks on.
        overlap_ranks = np.maximum(second_ranks[first], ranks[0])
        overlap[query] = np.bincount(overlap_ranks[overlap_ranks < depth], minlength=depth)
    ranks = np.arange(1, depth + 1)
    prefixes = Prefixes(
        overlap=np.cumsum(overlap, axis=1),
        size=np.broadcast_to(ranks, overlap.shape),
        unseen=np.ones_like(overlap),
        short=np.minimum(np.minimum(*lengths), depth),
        long=np.minimum(np.maximum(*lengths), depth),
    )
    index = pd.Index(queries, name="query")
    return pd.Series(rbo_of_prefixes(prefixes, p, variant), index=index, name=f"RBO {variant}")


class _GroupedRun(NamedTuple):
    """Rows of a run, grouped by query; ranks start at 0."""

    queries: pd.Index
    starts: IntArray
    documents: pd.Series
    ranks: IntArray


def _check_run(run: pd.DataFrame, name: str) -> pd.DataFrame:
    """Check the columns, ids and ranks of a run; convert categorical ids to plain types."""
    check_columns(f"The {name}", run.columns, ("query", "document", "rank"))
    if run.empty:
        raise DataError(name, fault="has no rows", fix="give one or more")
    run = run.assign(**{column: _plain(run[column]) for column in ("query", "document")})
    for column in ("query", "document"):
        if (missing := run[column].isna()).any():
            row = f"row {missing.to_numpy().argmax()} (counted from 0)"
            fault = f"is missing, as in {missing.sum()} rows"
            raise DataError(name, row, column, fault=fault, fix="add the ids, or remove the rows")
    if not pd.api.types.is_integer_dtype(run["rank"]):
        raise DataError(
            name,
            column="rank",
            value=run["rank"].tolist()[0],
            fault=f"of the type {run['rank'].dtype}",
            expected="integers from 1",
            fix="convert ranks with astype(int)",
        )
    return run


def _plain(ids: pd.Series) -> pd.Series:
    """Ids of a categorical column, with the type of its categories."""
    is_categorical = isinstance(ids.dtype, pd.CategoricalDtype)
    return ids.astype(ids.cat.categories.dtype) if is_categorical else ids


def _check_same_kind_of_ids(original: pd.DataFrame, counterfactual: pd.DataFrame) -> None:
    """Raise an error if ids have different types, since 1 and "1" would silently not match."""
    for column in ("query", "document"):
        ids = [run[column] for run in (original, counterfactual)]
        # Only a column of objects can mix types; in any other, the first id is enough.
        kinds = [
            pd.api.types.infer_dtype(values if values.dtype == object else values[:1])
            for values in ids
        ]
        if kinds[0] != kinds[1]:
            raise DataError(
                "counterfactual run",
                column=column,
                value=ids[1].head(1).tolist()[0],
                fault=f"of the type {kinds[1]}",
                expected=f"the type {kinds[0]} of the original run, as in "
                f"{in_quotes(ids[0].head(1).tolist()[0])}",
                fix="convert both to strings with astype(str)",
            )


def _group_by_query(run: pd.DataFrame, name: str) -> _GroupedRun:
    """Group the rows of a run by query; check that ranks have no gaps or repeats."""
    codes, queries = pd.factorize(run["query"], use_na_sentinel=False)
    sizes = np.bincount(codes)
    starts = np.append(0, sizes.cumsum())
    ranks = run["rank"].to_numpy(dtype=np.int64) - 1
    in_range = (ranks >= 0) & (ranks < sizes[codes])
    if not in_range.all() or np.bincount(starts[codes] + ranks).max() > 1:
        expected = run["rank"].groupby(codes).rank(method="first")
        row = int((expected != run["rank"]).to_numpy().argmax())
        raise DataError(
            name,
            f"row {row}, query {run['query'].tolist()[row]!r}",
            "rank",
            run["rank"].tolist()[row],
            expected="ranks from 1 without gaps or repeats",
        )
    documents = run["document"]
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        documents, ranks = documents.iloc[order], ranks[order]
    return _GroupedRun(pd.Index(queries), starts, documents, ranks)


def _refuse_duplicates(runs: list[pd.DataFrame]) -> None:
    """Raise an error at the first document that a run lists twice for a query."""
    for run, name in zip(runs, ("original run", "counterfactual run"), strict=True):
        duplicated = run.duplicated(["query", "document"]).to_numpy()
        if duplicated.any():
            row = int(duplicated.argmax())
            query, document = run[["query", "document"]].iloc[row]
            where = f"row {row}, query {query!r}"
            raise DataError(
                name, where, "document", document, "which occurs twice", fix="remove one"
            )


class _RBO(RunMeasure):
    """RBO: rank-biased overlap with another run, extrapolated; Webber et al. (2010), Eq. 32."""

    __name__ = NAME = "RBO"
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "run": ParamInfo(dtype=str, required=True, desc="run to compare with, in TREC format"),
        "p": ParamInfo(dtype=float, default=PERSISTENCE, desc="persistence"),
    }

    def by_query(self, run: pd.DataFrame, qrels: pd.DataFrame) -> Mapping[str, float]:
        """RBO of each query of the run."""
        depth = self["cutoff"]
        reference = read_run(self["run"])
        reference = reference[reference["query"].isin(run["query"])]
        return crbo(
            top_documents(run, depth), top_documents(reference, depth), self["p"], depth=depth
        ).to_dict()


RBO = register(_RBO)
