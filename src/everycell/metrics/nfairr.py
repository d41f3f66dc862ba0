"""NFaiRR: rank-weighted neutrality of documents, relative to the best list.

A document is represented by its number of terms of each group.

The functions take arrays of all queries (axes: queries Q, ranks R from the best, groups G) and
return all cut-offs: ``result[:, k - 1]`` is the value at k. `everycell.metrics.ranked_groups`
makes the arrays from a run, and `everycell.metrics.term_fairness` returns the measures as frames.

For `ir_measures`, ``NFaiRR(counts='counts.parquet',tau=1)@10`` has the parameters of
`everycell.metrics.run_measure.TermMeasure`, and ``tau``: the largest number of group terms of a
neutral document. The documents of the counts file are also the background from which the ideal list
is built.

Source: Rekabsaz et al., "Societal biases in retrieved contents" (SIGIR 2021), as in
abolghasemi2026, chapter 4, which is abolghasemi2024.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
from ir_measures import ParamInfo

from everycell.base.arrays import BoolArray, FloatArray
from everycell.base.errors import DataError, require
from everycell.base.frames import parquet_errors
from everycell.metrics.ranked_groups import (
    RankedGroups,
    absolute_distance,
    check_lists,
    checked_counts,
    checked_target,
    checked_weights,
    group_shares,
    rank_weights,
    sum_last_axis,
)
from everycell.metrics.run_measure import TermMeasure, register
from everycell.metrics.term_counts import check_counts, check_counts_file
from everycell.metrics.word_lists import DOCUMENT, LENGTH

#: Largest number of group terms of a neutral document, as in the NFaiRR authors' code.
TAU = 1


def neutrality(
    counts: npt.ArrayLike, *, tau: float = TAU, target: npt.ArrayLike | None = None
) -> FloatArray:
    r"""Neutrality (unbiasedness) of documents.

    .. math:: \omega(d) = 1 \text{ if } \sum_i M^{G_i}(d) \le \tau, \text{ else }
              1 - \sum_i \left| \frac{M^{G_i}(d)}{\sum_x M^{G_x}(d)} - J_{G_i} \right|

    Parameters
    ----------
    counts : array, shape (..., G)
        M: number of terms of each group in a document, 0 or more; two or more groups.
    tau
        Documents with at most this many group terms are neutral; 0 or more. The papers do not
        state their value; the NFaiRR authors' code uses 1, so that a single "she" does not count.
    target : array, shape (G,), optional
        J: share of each group in a balanced document, summing to 1; equal shares by default.

    Returns
    -------
    numpy.ndarray, shape (...)
        At most 1 and at least 1 - 2 (1 - smallest share). This bound is 0 for two groups with equal
        shares, and negative for other targets or more groups: values are not clipped at 0.

    Raises
    ------
    ValueError
        A count or tau below 0, one group only, a target that is not a distribution.

    Notes
    -----
    Source: abolghasemi2026, Eq. 4.1.

    Examples
    --------
    >>> neutrality([[0, 0], [1, 0], [2, 0], [3, 1]]).tolist()
    [1.0, 1.0, 0.0, 0.5]
    """
    array = checked_counts(counts)
    return document_neutrality(array, check_tau(tau), checked_target(target, array.shape[-1]))


def check_tau(tau: float) -> float:
    """Check the largest number of group terms of a neutral document."""
    require(tau >= 0, "tau", tau, "a number of group terms, 0 or more")
    return tau


def document_neutrality(
    counts: FloatArray, tau: float, target: FloatArray, alignments: FloatArray | None = None
) -> FloatArray:
    """Neutrality from checked counts and, if they are known, alignments of documents."""
    if alignments is None:
        alignments = group_shares(counts, 1 / counts.shape[-1])
    return np.where(sum_last_axis(counts) <= tau, 1.0, 1 - absolute_distance(alignments, target))


def ideal_fairr(
    omega: npt.ArrayLike,
    depth: int,
    *,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Best FaiRR that any order of the background documents can reach, at every cut-off.

    Parameters
    ----------
    omega : array, shape (Q, S)
        Neutrality of each query's background documents, in any order (see `neutrality`). Pass a
        single row if all queries have the same background.
    depth
        K, the number of cut-offs.
    weights : array, shape (depth,), optional
        See `rank_weights`; the scheme "log" by default.
    listed : array of bool, shape (Q, S), optional
        Which entries are documents; all by default.

    Returns
    -------
    numpy.ndarray, shape (Q, depth)
        FaiRR with the most neutral documents first. Constant beyond the number of background
        documents, as in the authors' code.

    Raises
    ------
    ValueError
        Wrong shapes, or a value that is above 1 or not finite.

    Notes
    -----
    Source: abolghasemi2026, Eq. 4.3, and the NFaiRR authors' code.

    Examples
    --------
    >>> ideal_fairr([[0.0, 1.0]], 3).tolist()
    [[1.0, 1.0, 1.0]]
    """
    array = np.asarray(omega, dtype=float)
    if array.ndim != 2 or not (array <= 1).all() or np.isinf(array).any():
        raise DataError(
            column=f"largest neutrality of an array of the shape {array.shape}",
            value=float(array.max(initial=-np.inf)),
            expected="at most 1, in an array of queries x documents",
        )
    mask = np.ones(array.shape, dtype=bool) if listed is None else np.asarray(listed, dtype=bool)
    best = -np.sort(np.where(mask, -array, np.inf), axis=1)[:, :depth]
    best = np.where(np.isfinite(best), best, 0.0)
    padded = np.pad(best, [(0, 0), (0, depth - best.shape[1])])
    return np.cumsum(padded * checked_weights(weights, depth), axis=1)


def nfairr(
    counts: npt.ArrayLike,
    *,
    tau: float = TAU,
    target: npt.ArrayLike | None = None,
    ideal: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Normalised fairness of retrieval results at every cut-off.

    .. math:: FaiRR_k = \sum_{r=1}^{k} \frac{\omega(d^r)}{\log(r + 1)}, \quad
              NFaiRR_k = \frac{FaiRR_k}{IFaiRR_k(S)}

    Parameters
    ----------
    counts : array, shape (Q, R, G)
        Group terms in the document at each rank, 0 or more; two or more groups.
    tau, target
        As for `neutrality`.
    ideal : array, shape (Q, R) or (1, R), optional
        IFaiRR of the background set at each cut-off (see `ideal_fairr`, with the same weights).
        By default the set is assumed to have at least R neutral documents, as large collections
        do, and IFaiRR is the sum of the weights.
    weights : array, shape (R,), optional
        See `rank_weights`; the scheme "log" by default.
    listed : array of bool, shape (Q, R), optional
        Ranks with a document; all by default.

    Returns
    -------
    numpy.ndarray, shape (Q, R)
        Without `ideal`, at most 1, and at least 0 for two groups with equal shares; 1 if every
        document is neutral. For a query with fewer than k documents, their FaiRR is divided by the
        ideal at k, as in the authors' code, so the value decreases as k grows. NaN for a query
        without documents, and where the ideal is 0 or less.

    Raises
    ------
    ValueError
        As for `neutrality`; wrong shapes; a list with a gap.

    Notes
    -----
    Source: abolghasemi2026, Eqs. 4.1 to 4.3. The base of the logarithm cancels.

    Examples
    --------
    The left list of Figure 4.1 with tau = 0, so that a single pronoun makes a document biased;
    then a list with two unbiased documents:

    >>> nfairr([[[0, 1], [1, 0], [1, 0], [0, 1]]], tau=0)[:, 3].tolist()
    [0.0]
    >>> nfairr([[[0, 2], [0, 0], [2, 2]]]).round(3).tolist()
    [[0.0, 0.387, 0.531]]
    """
    lists = check_lists(counts, listed=listed)
    _, ranks, groups = lists.counts.shape
    omega = document_neutrality(lists.counts, check_tau(tau), checked_target(target, groups))
    best = None if ideal is None else checked_ideal(ideal, lists.listed)
    return relative_neutrality(omega, lists.listed, checked_weights(weights, ranks), best)


def relative_neutrality(
    omega: FloatArray, listed: BoolArray, weights: FloatArray, ideal: FloatArray | None
) -> FloatArray:
    """NFaiRR from the neutrality of documents."""
    best = np.cumsum(weights)[None] if ideal is None else ideal
    fairr = np.cumsum(np.where(listed, omega, 0.0) * weights, axis=1)
    return np.where(listed[:, :1] & (best > 0), fairr / np.where(best > 0, best, 1), np.nan)


def checked_ideal(ideal: npt.ArrayLike, mask: BoolArray) -> FloatArray:
    """Check that the shape of the ideal values fits the lists."""
    best = np.asarray(ideal, dtype=float)
    shapes = mask.shape, (1, mask.shape[1])
    require(best.shape in shapes, "shape of `ideal`", best.shape, f"{shapes[0]} or {shapes[1]}")
    return best


def find_most_neutral(
    path: Path | str, number: int, *, tau: float = TAU, target: npt.ArrayLike | None = None
) -> pd.DataFrame:
    """Find the most neutral documents of a counts file, in constant memory."""
    best: list[pd.DataFrame] = []
    with parquet_errors(path):
        check_counts_file(Path(path))
    for batch in pyarrow.dataset.dataset(path, format="parquet").to_batches():
        table = pa.Table.from_batches([batch]).replace_schema_metadata(None)
        rows = check_counts(pd.concat([*best, table.to_pandas().set_index(DOCUMENT)]))
        omega = neutrality(rows.drop(columns=LENGTH).to_numpy(dtype=float), tau=tau, target=target)
        order = np.argsort(-omega, kind="stable")[:number]
        best = [rows.iloc[order]]
        if len(order) == number and omega[order[-1]] == 1:
            break
    return best[0]


def background_ideal(
    lists: RankedGroups, background: RankedGroups | pd.DataFrame, tau: float, target: FloatArray
) -> FloatArray:
    """IFaiRR of the background at each cut-off, in one row per query or one for all."""
    ranks = lists.counts.shape[1]
    if isinstance(background, pd.DataFrame):
        columns = [*background.columns.drop(LENGTH)]
    else:
        columns = [*background.groups]
    if tuple(columns) != lists.groups:
        raise DataError(
            column="groups of the background",
            value=columns,
            expected=f"{list(lists.groups)}, as in the lists",
            fix="count both with the same word list",
        )
    if isinstance(background, pd.DataFrame):
        counts = background[columns].to_numpy(dtype=float)
        return ideal_fairr(document_neutrality(counts, tau, target)[None], ranks)
    rows = pd.Index(background.queries).get_indexer(list(lists.queries))
    if (rows < 0).any():
        raise DataError(
            row=f"query {lists.queries[int((rows < 0).argmax())]!r}",
            fault="has no background documents",
            fix="give a background that covers every query of the run",
        )
    omega = document_neutrality(background.counts[rows], tau, target)
    return ideal_fairr(omega, ranks, listed=background.listed[rows])


class _NFaiRR(TermMeasure):
    """NFaiRR: rank-weighted neutrality of documents, abolghasemi2026, Eqs. 4.1 to 4.3."""

    __name__ = NAME = "NFaiRR"
    SUPPORTED_PARAMS = TermMeasure.SUPPORTED_PARAMS | {
        "tau": ParamInfo(
            dtype=(int, float),
            default=TAU,
            desc="documents with at most this many group terms are neutral",
        )
    }

    def values(self, lists: RankedGroups) -> FloatArray:
        """NFaiRR of each query at each cut-off."""
        _, ranks, groups = lists.counts.shape
        tau, target = check_tau(self["tau"]), checked_target(None, groups)
        background = find_most_neutral(self["counts"], ranks, tau=tau)
        omega = document_neutrality(lists.counts, tau, target)
        ideal = background_ideal(lists, background, tau, target)
        return relative_neutrality(omega, lists.listed, rank_weights(ranks), ideal)


NFaiRR = register(_NFaiRR)
