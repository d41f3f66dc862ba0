"""Term-based group fairness of runs: all measures of each query, and their means.

`everycell measure fairness` reports NFaiRR (`everycell.metrics.nfairr`), TExFAIR
(`everycell.metrics.texfair`) and AWRF (`everycell.metrics.awrf`) together. Some input is valid for
the measures but usually a mistake, such as a list shorter than the cut-off; `fairness_report`
rejects it unless it is explicitly allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.base.errors import DataError, require
from everycell.metrics.awrf import exposure_distance
from everycell.metrics.nfairr import (
    TAU,
    background_ideal,
    check_tau,
    checked_ideal,
    document_neutrality,
    find_most_neutral,
    relative_neutrality,
)
from everycell.metrics.ranked_groups import (
    RankedGroups,
    Unknown,
    arrange,
    check_lists,
    checked_target,
    rank_weights,
    sum_last_axis,
)
from everycell.metrics.term_counts import check_counts
from everycell.metrics.texfair import apply_discount, divergence_and_factor, largest_divergence
from everycell.trec.runs import rank_run

Background = Literal["all", "run"]

#: Measures of `fairness_curves` and columns of `fairness_by_query`.
MEASURES = ("NFaiRR", "TExFAIR", "TExFAIR without RBDF", "AWRF")

#: Number of queries in a block; sizes from 16 to 128 are equally fast.
_BLOCK = 32


def fairness_curves(
    counts: npt.ArrayLike,
    lengths: npt.ArrayLike,
    target: npt.ArrayLike | None = None,
    *,
    tau: float = TAU,
    ideal: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> dict[str, FloatArray]:
    """All measures of all queries at every cut-off, with shared intermediate results.

    The values of `nfairr`, `texfair` (with and without RBDF) and `awrf` (L1 distance; documents
    without group terms belong equally to all groups, Eq. 4.14) by name, shape (Q, R) each. 1,000
    queries of 1,000 documents take a quarter of a second.
    """
    lists = check_lists(counts, lengths, listed)
    shares = checked_target(target, lists.counts.shape[2])
    best = None if ideal is None else checked_ideal(ideal, lists.listed)
    return _curves(lists, shares, check_tau(tau), best)


def _curves(
    lists: RankedGroups, target: FloatArray, tau: float, ideal: FloatArray | None
) -> dict[str, FloatArray]:
    """All measures of checked lists at every cut-off."""
    highest, weights = 2 * (1 - target.min()), rank_weights(lists.counts.shape[1])
    values = {name: np.empty(lists.listed.shape) for name in MEASURES}
    # The intermediate arrays of a block stay in the processor's cache, and each group's numbers
    # are contiguous, which halves the time.
    for start in range(0, len(lists.listed), _BLOCK):
        rows = slice(start, start + _BLOCK)
        block = lists.block(rows)
        best = ideal if ideal is None or len(ideal) == 1 else ideal[rows]
        alignment = block.alignments()
        omega = document_neutrality(block.counts, tau, target, alignment)
        divergence, factor = divergence_and_factor(block, target, weights)
        block_values = (
            relative_neutrality(omega, block.listed, weights, best),
            np.maximum(highest - apply_discount(divergence, factor), 0),
            np.maximum(highest - divergence, 0),
            exposure_distance(alignment, target, weights),
        )
        for name, by_query in zip(MEASURES, block_values, strict=True):
            values[name][rows] = by_query
    return values


def fairness_by_query(
    ranked: RankedGroups,
    cutoffs: Iterable[int] = (10,),
    *,
    target: npt.ArrayLike | None = None,
    tau: float = TAU,
    background: RankedGroups | pd.DataFrame | None = None,
) -> pd.DataFrame:
    """All measures of all queries at the given cut-offs.

    Parameters
    ----------
    ranked
        Result of `ranked_counts`.
    cutoffs : iterable of int
        Cut-offs from 1 to the number of ranks in `ranked`.
    target : array, shape (G,), optional
        Target share of each group, summing to 1; equal shares by default. It also defines a
        balanced document in NFaiRR.
    tau
        As for `neutrality`.
    background
        Documents from which the ideal list of NFaiRR is built: either a frame of `read_counts`, the
        same for all queries; or one set per query (`ranked_counts` of the first-stage run), the
        NFaiRR authors' default. By default a collection with at least as many neutral documents as
        there are ranks is assumed, as in abolghasemi2026.

    Returns
    -------
    pandas.DataFrame
        One row per cut-off and query, sorted by cut-off. Columns: ``query``, ``k`` and the measures
        of `fairness_curves`. For means, use ``frame.groupby("k").mean(numeric_only=True)``,
        which ignores NaN (see `nfairr`, `ted` and `awrf` for where it occurs).

    Raises
    ------
    ValueError
        A cut-off outside the ranks, different groups or a missing query in the background, or as
        for the measures.

    Examples
    --------
    >>> from everycell.metrics.ranked_groups import ranked_counts
    >>> frame = pd.DataFrame({"length": [5, 5], "f": [1, 0], "m": [0, 2]}, index=["d1", "d2"])
    >>> run = pd.DataFrame({"query": "q", "document": ["d1", "d2"], "score": [2.0, 1.0]})
    >>> fairness_by_query(ranked_counts(run, frame), [1, 2]).round(3).to_dict("list")
    {'query': ['q', 'q'], 'k': [1, 2], 'NFaiRR': [1.0, 0.613], 'TExFAIR': [0.0, 0.884],
     'TExFAIR without RBDF': [0.0, 0.884], 'AWRF': [1.0, 0.226]}
    """
    depths = list(cutoffs)
    _, ranks, groups = ranked.counts.shape
    for k in depths:
        require(1 <= k <= ranks, "cut-off", k, f"a rank of the lists, from 1 to {ranks}")
    if isinstance(background, pd.DataFrame):
        background = check_counts(background)
    return _by_query(ranked, depths, checked_target(target, groups), check_tau(tau), background)


def _by_query(
    lists: RankedGroups,
    depths: list[int],
    target: FloatArray,
    tau: float,
    background: RankedGroups | pd.DataFrame | None,
) -> pd.DataFrame:
    """All measures of checked lists at the given cut-offs."""
    ideal = None if background is None else background_ideal(lists, background, tau, target)
    columns = [k - 1 for k in depths]
    return pd.DataFrame(
        {
            "query": list(lists.queries) * len(depths),
            "k": np.repeat(np.array(depths, dtype=int), len(lists.queries)),
        }
        | {
            name: by_query[:, columns].T.ravel()
            for name, by_query in _curves(lists, target, tau, ideal).items()
        }
    )


class Correlation(NamedTuple):
    """Pearson's r between two measures over queries, and its two-sided p-value."""

    r: float
    p: float
    queries: int


def correlation(first: npt.ArrayLike, second: npt.ArrayLike) -> Correlation:
    """Pearson's r between the values of two measures over queries.

    Queries with NaN in either are excluded. r and p are NaN for fewer than three queries, or if a
    measure is constant. Source: abolghasemi2026, Table 4.1 (column r: TExFAIR with NFaiRR, query
    level).
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.shape != y.shape or x.ndim != 1:
        raise DataError(
            column="pair of shapes",
            value=(x.shape, y.shape),
            expected="one value of each measure per query",
        )
    complete = ~(np.isnan(x) | np.isnan(y))
    x, y = x[complete], y[complete]
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(np.nan, np.nan, len(x))
    # Imported here: the workflow uses constants of this module, and loading scipy.stats takes a
    # second.
    from scipy.stats import pearsonr

    result = pearsonr(x, y)
    return Correlation(float(result.statistic), float(result.pvalue), len(x))


@dataclass(frozen=True)
class FairnessReport:
    """Measures of a run at one or more cut-offs.

    Attributes
    ----------
    means : pandas.DataFrame
        One row per cut-off: ``k``; ``queries``; the means of NFaiRR, TExFAIR, TExFAIR without RBDF
        and AWRF over the queries that have a value; ``r`` and ``p``, Pearson's correlation of
        NFaiRR and TExFAIR over queries and its p-value; ``lists with terms`` and ``documents with
        terms``, the shares of top-k lists, and of documents in these lists, that contain a term of
        any group.
    by_query : pandas.DataFrame
        Values of `fairness_by_query`, ``documents`` (number of documents in the top k) and ``with
        terms`` (number of these documents that contain a term of any group).
    groups : tuple of G str
        In the order of the counts file.
    target : tuple of G float
        Share of each group.
    highest : float
        Largest TExFAIR for this target; 1 for two equal shares.
    """

    means: pd.DataFrame
    by_query: pd.DataFrame
    groups: tuple[str, ...]
    target: tuple[float, ...]
    highest: float


def fairness_report(
    run: pd.DataFrame,
    counts: pd.DataFrame | Path | str,
    cutoffs: Iterable[int] = (10,),
    *,
    tau: float = TAU,
    target: npt.ArrayLike | None = None,
    background: Background = "all",
    unknown: Unknown = "error",
    allow_short: bool = False,
    allow_empty: bool = False,
) -> FairnessReport:
    """Compute all fairness measures of a run.

    Parameters
    ----------
    run : pandas.DataFrame
        Columns ``query``, ``document``, ``score``; ranks are trec_eval's.
    counts
        File written by `count_terms`, or the frame that `read_counts` reads from it.
    cutoffs : iterable of int
        Cut-offs of 1 or more; duplicates are ignored.
    tau, target
        As for `fairness_by_query`.
    background
        Documents from which the ideal list of NFaiRR is built: "all" documents in the counts, or
        all documents that the "run" retrieves for the query (the NFaiRR authors' default).
    unknown
        As for `ranked_counts`. "neutral" gives documents without counts the length 0, so it implies
        `allow_empty`.
    allow_short, allow_empty
        Whether a query may have fewer documents than the largest cut-off, and whether a document
        may have the length 0.

    Returns
    -------
    FairnessReport

    Raises
    ------
    FileNotFoundError
        If there is no such counts file.
    ValueError
        No cut-off or a cut-off below 1, an unknown background, a short list or an empty document
        that is not allowed, or as for `ranked_counts` and `fairness_by_query`.

    Notes
    -----
    Source of the correlation: abolghasemi2026, Table 4.1, column r.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "counts.parquet"
    >>> frame = pd.DataFrame({"document_id": ["d1", "d2"], "length": 5, "f": [1, 0], "m": [0, 2]})
    >>> frame.to_parquet(path)
    >>> run = pd.DataFrame({"query": "q", "document": ["d1", "d2"], "score": [2.0, 1.0]})
    >>> report = fairness_report(run, path, [2])
    >>> report.means[["k", "queries", "TExFAIR", "lists with terms"]].round(3).values.tolist()
    [[2.0, 1.0, 0.884, 1.0]]
    """
    depths = list(dict.fromkeys(cutoffs))
    require(depths and all(k >= 1 for k in depths), "cut-offs", depths, "one or more, all from 1")
    require(background in get_args(Background), "background", background, "'all' or 'run'")
    require(unknown in get_args(Unknown), "unknown", unknown, "'error' or 'neutral'")
    if isinstance(counts, pd.DataFrame):
        counts = check_counts(counts)
    depth, ranked_run = max(depths), rank_run(run)
    ranked = arrange(ranked_run, counts, depth=depth, unknown=unknown)
    shares = checked_target(target, len(ranked.groups))
    if not allow_short:
        _refuse_short(ranked)
    if not allow_empty and unknown == "error":
        _refuse_empty(ranked)
    documents: pd.DataFrame | RankedGroups
    if background == "run":
        documents = arrange(ranked_run, counts, depth=None, unknown=unknown)
    elif isinstance(counts, pd.DataFrame):
        documents = counts
    else:
        documents = find_most_neutral(counts, depth, tau=tau, target=shares)
    by_query = _by_query(ranked, depths, shares, check_tau(tau), documents)
    columns = [k - 1 for k in depths]
    numbers = {"documents": ranked.listed, "with terms": sum_last_axis(ranked.counts) > 0}
    by_query = by_query.assign(
        **{
            name: np.cumsum(is_counted, axis=1)[:, columns].T.ravel()
            for name, is_counted in numbers.items()
        }
    )
    rows = []
    for k, values in by_query.groupby("k", sort=False):
        measures = values.drop(columns=["query", "k", "documents", "with terms"])
        pearson = correlation(values["NFaiRR"], values["TExFAIR"])
        rows.append(
            {"k": k, "queries": len(values)}
            | measures.mean().to_dict()
            | {"r": pearson.r, "p": pearson.p}
            | {
                "lists with terms": (values["with terms"] > 0).mean(),
                "documents with terms": values["with terms"].sum() / values["documents"].sum(),
            }
        )
    return FairnessReport(
        pd.DataFrame(rows),
        by_query,
        ranked.groups,
        tuple(shares.tolist()),
        largest_divergence(shares, len(shares)),
    )


def _refuse_short(ranked: RankedGroups) -> None:
    depth = ranked.listed.shape[1]
    is_short = ~ranked.listed[:, -1]
    if is_short.any():
        query = int(is_short.argmax())
        raise DataError(
            row=f"query {ranked.queries[query]!r}",
            column="number of documents",
            value=int(ranked.listed[query].sum()),
            fault=f"fewer than the cut-off, as for {is_short.sum()} of {len(is_short)} queries",
            expected=str(depth),
            fix="retrieve more documents, lower the cut-off, or keep such lists (--allow-short)",
        )


def _refuse_empty(ranked: RankedGroups) -> None:
    is_empty = ranked.listed & (ranked.lengths == 0)
    if is_empty.any():
        query, rank = np.argwhere(is_empty)[0]
        raise DataError(
            row=f"query {ranked.queries[query]!r}, rank {rank + 1}",
            column="length",
            value=0,
            fault=f"as for {is_empty.sum()} of {ranked.listed.sum()} ranked documents",
            fix="remove the document from the run, or treat it as neutral (--allow-empty)",
        )
