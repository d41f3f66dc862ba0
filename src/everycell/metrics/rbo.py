"""Rank-biased overlap (RBO) of two rankings, with ties, and its counterfactual use (CRBO).

Source: Webber, Moffat and Zobel, "A similarity measure for indefinite rankings" (TOIS 28(4), 2010);
ties after Corsi and Urbano, "The treatment of ties in rank-biased overlap" (SIGIR 2024).

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

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from ir_measures import ParamInfo

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError, require
from everycell.base.frames import check_columns
from everycell.base.untrusted import in_quotes
from everycell.metrics.run_measure import CUTOFF, RunMeasure, register, top_documents
from everycell.trec.runs import read_run

Variant = Literal["truncated", "min", "ext"]
Ties = Literal["a", "w", "b"]
#: A ranking, best item first; tied items are grouped in a set.
Ranking = Sequence[Hashable | AbstractSet[Hashable]]

#: Default persistence of all functions and commands, as in abolghasemi2026.
PERSISTENCE = 0.9


class _Prefixes(NamedTuple):
    """Prefixes of n pairs of rankings at m depths.

    `overlap` (common items), `size` (agreement is overlap / size) and `unseen` (mean presence
    of the items that only the longer ranking has) have shape (n, m). `short` and `long` are the
    numbers of items, shape (n,).
    """

    overlap: FloatArray
    size: npt.NDArray[np.number]
    unseen: FloatArray
    short: IntArray
    long: IntArray


def _check_arguments(p: float, variant: str) -> None:
    require(0 < p < 1, "p", p, "a persistence above 0 and below 1")
    require(variant in get_args(Variant), "variant", variant, "'truncated', 'min' or 'ext'")


def _rbo(prefixes: _Prefixes, p: float, variant: Variant) -> FloatArray:
    """RBO of each pair of rankings."""
    rows = np.arange(len(prefixes.overlap))
    depth = np.arange(1, prefixes.overlap.shape[1] + 1)
    is_within_long = depth <= prefixes.long[:, None]
    overlap_long = prefixes.overlap[rows, prefixes.long - 1]
    agreement = np.where(is_within_long, prefixes.overlap / prefixes.size, 0)
    weight = (1 - p) / p * p**depth
    if variant == "truncated":
        return agreement @ weight
    if variant == "min":
        tail_weight = -np.log1p(-p) - np.where(is_within_long, p**depth / depth, 0).sum(axis=1)
        return agreement @ weight + (1 - p) / p * overlap_long * tail_weight
    agreement_short = agreement[rows, prefixes.short - 1]
    missing_items = np.maximum(depth - prefixes.short[:, None], 0)
    added_agreement = agreement_short[:, None] * missing_items * prefixes.unseen / prefixes.size
    final_overlap = overlap_long + (prefixes.long - prefixes.short) * agreement_short
    return (
        agreement + np.where(is_within_long, added_agreement, 0)
    ) @ weight + p**prefixes.long * (final_overlap / prefixes.long)


def _tie_ranges(ranking: Ranking, name: str) -> dict[Hashable, tuple[int, int]]:
    """Map each item to the first and last rank (from 0) of its group of ties."""
    # A dictionary lists its keys in insertion order, but its values may be meant as scores.
    if isinstance(ranking, (AbstractSet, Mapping)):
        raise DataError(
            f"{name} ranking",
            column="type",
            value=type(ranking).__name__,
            fault="which has no ranks",
            fix="give a list that starts with the best item, with tied items in a set",
        )
    positions: dict[Hashable, tuple[int, int]] = {}
    for entry in ranking:
        if not isinstance(entry, (Hashable, AbstractSet)):
            raise DataError(
                f"{name} ranking",
                column="item",
                value=entry,
                expected="a string or a number, or a set of tied items",
            )
        tied_items = entry if isinstance(entry, AbstractSet) else (entry,)
        start = len(positions)
        for item in tied_items:
            is_missing = item is None or item is pd.NA or item != item
            if is_missing or item in positions:
                fault = "which is missing" if is_missing else "which occurs twice"
                raise DataError(f"{name} ranking", None, "item", item, fault, fix="remove it")
            positions[item] = (start, start + len(tied_items) - 1)
    if not positions:
        raise DataError(f"{name} ranking", fault="is empty", fix="give one item or more")
    return positions


def _contributions(
    positions: dict[Hashable, tuple[int, int]], items: list, depths: int, ties: Ties
):
    """Share of each item (row) that a ranking includes at each depth (column)."""
    share = np.zeros((len(items), depths))
    for row, item in enumerate(items):
        if item in positions:
            first, last = positions[item]
            # A tied item is equally likely at each of the tied ranks; "w" counts it in full from
            # the first of them on.
            size = 1 if ties == "w" else last - first + 1
            share[row, first:] = np.minimum(np.arange(1, depths - first + 1) / size, 1)
    return share


def rbo(
    first: Ranking,
    second: Ranking,
    p: float = PERSISTENCE,
    *,
    variant: Variant = "ext",
    ties: Ties = "a",
) -> float:
    r"""Rank-biased overlap (RBO), a top-weighted similarity of two rankings.

    The agreement A_d at depth d is the share of the first d items that the rankings have in common.
    RBO is its mean over all depths, weighted by p^(d - 1):

    .. math:: RBO = (1 - p) \sum_{d \geq 1} p^{d-1} A_d

    Parameters
    ----------
    first, second : sequence of items
        Best item first, with one item or more; the lengths may differ. Tied items are grouped in a
        set. To compare at a fixed depth, truncate the rankings.
    p : float
        Persistence, in (0, 1): the probability that a reader continues to the next rank. With the
        default of 0.9, the first ten ranks have 86 % of the weight; with 0.8, the value of
        repro_eval, 97 %.
    variant : {"ext", "min", "truncated"}
        Treatment of depths beyond the last item. "ext" extrapolates the agreement; "min" assumes no
        further common items, a lower bound on the RBO of longer rankings; "truncated" ends the sum,
        so that identical rankings of n items have an RBO of 1 - p^n.
    ties : {"a", "b", "w"}
        Meaning of a tie, with the names of Corsi and Urbano; without ties, all three agree.

        - "a": the order is unknown. The result is the mean over all orders of the tied items, so
          the RBO of a ranking with ties and itself is below 1.
        - "b": as "a", normalised so that the RBO of a ranking with ties and itself is 1.
        - "w": the items are equally good. All of them count from their first rank on.

    Returns
    -------
    float
        In [0, 1]: "truncated" <= "min" <= "ext" for the same rankings. "ext" is 1 for identical
        rankings (with ties, only under "b" and "w"). All variants are 0 for rankings without a
        common item. Symmetric.

    Raises
    ------
    ValueError
        A ranking that is empty, a set or a dictionary; an item that is a list, None or NaN; a
        duplicate item; strings in one ranking and only others in the other; p outside (0, 1); an
        unknown variant or treatment of ties.

    Notes
    -----
    Source: Webber et al. (2010), Eqs. 4, 11, 28 and 32; ties: Corsi and Urbano (2024). With the
    shorter ranking S of s items, the longer one L of l items, and :math:`X_d = |S_{:d} \cap
    L_{:d}|` items in common,

    .. math:: RBO_{ext} = \frac{1 - p}{p} \left( \sum_{d=1}^{l} \frac{X_d}{d} p^d
              + \sum_{d=s+1}^{l} \frac{X_s (d - s)}{s\, d} p^d \right)
              + \left( \frac{X_l - X_s}{l} + \frac{X_s}{s} \right) p^l

    With ties, :math:`X_d` is the sum over items of the product of their shares c in both rankings:
    under "a" and "b", each rank of n tied items adds 1 / n of each of them. The agreement is
    :math:`X_d / d` ("a"), :math:`X_d / \sqrt{\sum c_S^2 \sum c_L^2}` ("b"), or :math:`2 X_d /
    (|S_{:d}| + |L_{:d}|)` ("w"). Memory grows with items times depths; for many queries without
    ties, use `crbo`.

    Examples
    --------
    >>> round(rbo(["a", "b", "c"], ["a", "c", "d"]), 4)
    0.685
    >>> [round(rbo("abc", "bad", 0.5, variant=v), 4) for v in ("truncated", "min", "ext")]
    [0.3333, 0.3863, 0.4167]
    >>> round(rbo(["a", {"b", "c"}], ["a", "b", "c"]), 4)
    0.9775
    """
    _check_arguments(p, variant)
    require(ties in get_args(Ties), "ties", ties, "'a', 'w' or 'b'")
    positions = [_tie_ranges(first, "first"), _tie_ranges(second, "second")]
    has_text = [{isinstance(item, str) for item in ranking} for ranking in positions]
    if {True} in has_text and {False} in has_text:
        raise DataError(
            fault="The items are strings in one ranking and not in the other, so that none match",
            fix="use one type",
        )
    short, long = sorted(positions, key=len)
    s, depths = len(short), len(long)
    items = list(short | long)
    in_short = _contributions(short, items, depths, ties)
    in_long = _contributions(long, items, depths, ties)
    only_long = in_long[[item not in short for item in items]]
    depth = np.arange(1, depths + 1)
    if ties == "a":
        size = depth.astype(float)
    else:
        # Beyond its end, the shorter ranking is assumed to have as many items as the depth.
        power = 1 if ties == "w" else 2
        short_size = np.where(depth <= s, (in_short**power).sum(axis=0), depth)
        long_size = (in_long**power).sum(axis=0)
        size = (short_size + long_size) / 2 if ties == "w" else np.sqrt(short_size * long_size)
    # Items that only the longer ranking has, down to each depth; tied items may be partly included.
    unseen_items = np.maximum((only_long > 0).sum(axis=0), 1)
    prefixes = _Prefixes(
        overlap=(in_short * in_long).sum(axis=0)[None],
        size=size[None],
        unseen=(only_long.sum(axis=0) / unseen_items)[None],
        short=np.array([s]),
        long=np.array([depths]),
    )
    return float(_rbo(prefixes, p, variant)[0])


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
    _check_arguments(p, variant)
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
    prefixes = _Prefixes(
        overlap=np.cumsum(overlap, axis=1),
        size=np.broadcast_to(ranks, overlap.shape),
        unseen=np.ones_like(overlap),
        short=np.minimum(np.minimum(*lengths), depth),
        long=np.minimum(np.maximum(*lengths), depth),
    )
    index = pd.Index(queries, name="query")
    return pd.Series(_rbo(prefixes, p, variant), index=index, name=f"RBO {variant}")


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
