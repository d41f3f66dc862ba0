"""Ranked lists and the groups of their documents, from runs or arrays, checked once.

Measures of group fairness take `RankedGroups` (axes: queries Q, ranks R from the best, groups G),
the target shares of the groups and the weights of the ranks, and trust them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from types import EllipsisType
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import BoolArray, FloatArray
from everycell.base.errors import DataError, require
from everycell.metrics.term_counts import check_counts, read_counts
from everycell.metrics.word_lists import LENGTH
from everycell.trec.runs import RankedRun, rank_run

#: How to treat a document without counts: as an error, or as one without group terms.
Unknown = Literal["error", "neutral"]
Scheme = Literal["log", "TREC", "geometric"]
WithoutTerms = Literal["equal", "none"]

#: Tolerance for the sum of a target; published targets have at least six digits.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class RankedGroups:
    """Ranked lists as arrays for the measures.

    Attributes
    ----------
    counts : array, shape (Q, R, G)
        Group terms of the document at each rank, or its association with each group; 0 at ranks
        without a document.
    lengths : array, shape (Q, R)
        Number of tokens of the document at each rank; 0 at ranks without a document.
    listed : array of bool, shape (Q, R)
        Whether there is a document at the rank.
    queries : tuple of Q str
        In the order of their first occurrence in the run.
    groups : tuple of G str
        In the order of the counts.
    """

    counts: FloatArray
    lengths: FloatArray
    listed: BoolArray
    queries: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def block(self, rows: slice) -> RankedGroups:
        """Arrays of some queries, with contiguous numbers of each group."""
        counts = np.moveaxis(np.moveaxis(self.counts[rows], 2, 0).copy(), 0, 2)
        return replace(self, counts=counts, lengths=self.lengths[rows], listed=self.listed[rows])

    def alignments(self) -> FloatArray:
        """Association of documents with groups, equal without group terms; 0 at empty ranks."""
        shares = group_shares(self.counts, 1 / self.counts.shape[2])
        return shares if self.listed.all() else np.where(self.listed[..., None], shares, 0.0)


def check_lists(
    counts: npt.ArrayLike,
    lengths: npt.ArrayLike | EllipsisType = ...,
    listed: npt.ArrayLike | None = None,
    name: str = "counts",
) -> RankedGroups:
    """Ranked lists from arrays of queries x ranks x groups; `...` for measures without lengths."""
    array, mask = checked_lists(counts, listed, name)
    if isinstance(lengths, EllipsisType):
        return RankedGroups(array, np.zeros(mask.shape), mask)
    tokens, _ = checked_lists(lengths, listed, "lengths", axes=2)
    _check_shape("lengths", tokens, mask.shape)
    exceeds = sum_last_axis(array) > tokens
    if exceeds.any():
        query, rank = np.argwhere(exceeds)[0]
        raise DataError(
            row=f"rank {rank + 1} of query {query} (counted from 0)",
            column="number of group terms",
            value=float(array[query, rank].sum()),
            fault=f"above the length {tokens[query, rank]:g}",
            fix="count the document again",
        )
    return RankedGroups(array, tokens, mask)


def checked_lists(
    values: npt.ArrayLike, listed: npt.ArrayLike | None, name: str, axes: int = 3
) -> tuple[FloatArray, BoolArray]:
    """Check values of queries x ranks (x groups); also return the listed ranks."""
    array = np.asarray(values, dtype=float)
    if array.ndim != axes or array.shape[1] == 0:
        axis_names = f"queries x ranks{' x groups' if axes == 3 else ''}, with one rank or more"
        raise DataError(column=f"shape of the {name}", value=array.shape, expected=axis_names)
    if listed is None:
        mask = np.ones(array.shape[:2], dtype=bool)
    else:
        mask = np.asarray(listed, dtype=bool)
        _check_shape("listed", mask, array.shape[:2])
        if (gaps := (mask[:, 1:] > mask[:, :-1]).any(axis=1)).any():
            raise DataError(
                row=f"query {gaps.argmax()} (counted from 0)",
                fault="has an empty rank above a document",
                fix="move its documents up",
            )
        if not mask.all():
            array = np.where(mask.reshape(mask.shape + (1,) * (axes - 2)), array, 0.0)
    if not (array.min(initial=0.0) >= 0 and array.max(initial=0.0) < np.inf):
        value = float(array[~(np.isfinite(array) & (array >= 0))][0])
        raise DataError(
            column=f"value in the {name}", value=value, expected="a finite number of 0 or more"
        )
    return array, mask


def _check_shape(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    """Check the shape of an array against that of the lists."""
    require(array.shape == shape, f"shape of `{name}`", array.shape, str(shape))


def checked_target(target: npt.ArrayLike | None, groups: int) -> FloatArray:
    """Check the target shares of groups; equal shares by default."""
    require(groups >= 2, "number of groups", groups, "two or more")
    if target is None:
        return np.full(groups, 1 / groups)
    shares = np.asarray(target, dtype=float)
    _check_shape("target", shares, (groups,))
    total = shares.sum()
    require(
        (np.isfinite(shares) & (shares >= 0)).all() and abs(total - 1) <= _ROUNDING,
        "target",
        shares.tolist(),
        f"shares of 0 or more that sum to 1, not to {total:g}",
    )
    return shares / total


def rank_weights(depth: int, scheme: Scheme = "log", *, stop: float = 0.5) -> FloatArray:
    r"""Attention that each rank receives.

    .. math:: v_r = \frac{1}{\log_2(r + 1)} \;\text{(log)}, \quad
              v_r = \frac{1}{\log_2 \max(r, 2)} \;\text{(TREC)}, \quad
              v_r = s (1 - s)^{r - 1} \;\text{(geometric)}

    Parameters
    ----------
    depth
        Number of ranks, 1 or more.
    scheme
        "log" is the position bias of NFaiRR and TExFAIR. "TREC" is that of the TREC Fair Ranking
        tracks of 2021 and 2022, in which the first two ranks have the same weight. "geometric"
        models a user who stops after each rank with the same probability (Sapiezynski et al.).
    stop
        s, in (0, 1]; used by "geometric" only.

    Returns
    -------
    numpy.ndarray, shape (depth,)
        Positive (with s = 1, 0 from rank 2 on) and non-increasing. The normalised measures do not
        depend on the scale of the weights, nor on the base of the logarithm.

    Raises
    ------
    ValueError
        A depth below 1, an unknown scheme, `stop` outside (0, 1].

    Notes
    -----
    Source: abolghasemi2026, Eqs. 4.2 and 4.8; overview of the TREC 2021 Fair Ranking track.

    Examples
    --------
    >>> rank_weights(3).round(3).tolist(), rank_weights(3, "TREC").round(3).tolist()
    ([1.0, 0.631, 0.5], [1.0, 1.0, 0.631])
    """
    require(depth >= 1, "depth", depth, "1 rank or more")
    require(scheme in get_args(Scheme), "scheme", scheme, "'log', 'TREC' or 'geometric'")
    ranks = np.arange(1, depth + 1)
    if scheme == "log":
        return 1 / np.log2(ranks + 1)
    if scheme == "TREC":
        return 1 / np.log2(np.maximum(ranks, 2))
    require(0 < stop <= 1, "stop", stop, "a probability above 0")
    return stop * (1 - stop) ** (ranks - 1)


def checked_weights(weights: npt.ArrayLike | None, depth: int) -> FloatArray:
    """Check the weights of ranks; by default those of the scheme "log"."""
    if weights is None:
        return rank_weights(depth)
    array = np.asarray(weights, dtype=float)
    _check_shape("weights", array, (depth,))
    require(
        (np.isfinite(array) & (array >= 0)).all() and array[0] > 0,
        "weights",
        array.tolist(),
        "finite numbers of 0 or more, with the first above 0",
    )
    return array


def sum_last_axis(array: FloatArray) -> FloatArray:
    """Sum over a short last axis, many times faster than `numpy.sum`."""
    return reduce(np.add, np.moveaxis(array, -1, 0))


def group_shares(array: FloatArray, default: float) -> FloatArray:
    """Each group's share of the sum over the groups, or a default if the sum is 0."""
    total = sum_last_axis(array)
    is_positive = total > 0
    factor = 1 / np.where(is_positive, total, 1)
    shares = array * factor[..., None]
    shares += np.where(is_positive, 0.0, default)[..., None]
    return shares


def absolute_distance(shares: FloatArray, target: FloatArray) -> FloatArray:
    """Sum over the groups of the absolute differences from a target."""
    return sum_last_axis(np.abs(shares - target))


def alignments(counts: npt.ArrayLike, without_terms: WithoutTerms = "equal") -> FloatArray:
    r"""Association of documents with groups, from their counts of group terms.

    .. math:: a_d^{G_i} = \frac{M^{G_i}(d)}{\sum_x M^{G_x}(d)}

    Source: abolghasemi2026, Eq. 4.14.
    """
    choices = get_args(WithoutTerms)
    require(without_terms in choices, "without_terms", without_terms, "'equal' or 'none'")
    array = checked_counts(counts)
    return group_shares(array, 1 / array.shape[-1] if without_terms == "equal" else 0.0)


def checked_counts(counts: npt.ArrayLike) -> FloatArray:
    """Check counts of groups on the last axis."""
    array = np.asarray(counts, dtype=float)
    require(array.ndim > 0, "counts", array, "an array of documents x groups")
    if not (valid := array >= 0).all():
        raise DataError(
            column="count",
            value=float(array[~valid][0]),
            fault="which is negative or missing",
            fix="give numbers of 0 or more",
        )
    return array


def ranked_counts(
    run: pd.DataFrame,
    counts: pd.DataFrame | Path | str,
    *,
    depth: int | None = None,
    unknown: Unknown = "error",
) -> RankedGroups:
    """Arrange the counts of a run's documents in the order of its ranks.

    Parameters
    ----------
    run : pandas.DataFrame
        Columns ``query``, ``document``, ``score``, in any order of rows. Ranks are those of
        trec_eval: by score, then by document id, both descending; scores tie when they are equal
        as 32-bit floats.
    counts : pandas.DataFrame or path
        Counts as `read_counts` returns them, or the path of a counts file.
    depth
        Number of ranks to keep, 1 or more; by default those of the longest list. Shorter lists are
        padded.
    unknown
        How to treat a document without counts: as an "error", or as "neutral", with no group terms
        and length 0, which the NFaiRR authors' code assumes after a warning.

    Returns
    -------
    RankedGroups

    Raises
    ------
    ValueError
        A missing column, no rows, a score that is not finite, a document listed twice for a query,
        a document without counts, a depth below 1, or counts that `check_counts` rejects.

    Examples
    --------
    >>> frame = pd.DataFrame({"length": [5, 4], "f": [1, 0], "m": [0, 2]}, index=["d1", "d2"])
    >>> run = pd.DataFrame({"query": "q", "document": ["d1", "d2"], "score": [1.0, 2.0]})
    >>> ranked_counts(run, frame).counts.tolist()
    [[[0.0, 2.0], [1.0, 0.0]]]
    """
    require(depth is None or depth >= 1, "depth", depth, "1 rank or more")
    require(unknown in get_args(Unknown), "unknown", unknown, "'error' or 'neutral'")
    if isinstance(counts, pd.DataFrame):
        counts = check_counts(counts)
    return arrange(rank_run(run), counts, depth=depth, unknown=unknown)


def arrange(
    run: RankedRun, counts: pd.DataFrame | Path | str, *, depth: int | None, unknown: Unknown
) -> RankedGroups:
    """Arrange checked counts, or those of a file, in the order of a ranked run."""
    rank, query, document = run.rank, run.query, run.document
    if depth is not None and (is_kept := rank < depth).sum() < len(rank):
        rank, query, document = rank[is_kept], query[is_kept], document[is_kept]
    if not isinstance(counts, pd.DataFrame):
        counts = read_counts(counts, run.documents[np.unique(document)])
    # -1 marks a document without counts.
    rows = counts.index.get_indexer(run.documents)[document]
    if unknown == "error" and (rows < 0).any():
        missing = document[rows < 0]
        raise DataError(
            column="document of the run",
            value=run.documents[missing[0]],
            fault=f"which has no counts, like {len(np.unique(missing))} of "
            f"{len(np.unique(document))} documents",
            fix="count the collection that was searched, or treat such documents as neutral with "
            "unknown='neutral'",
        )
    groups = [column for column in counts.columns if column != LENGTH]
    shape = len(run.queries), depth or int(rank.max()) + 1
    # The last row is that of documents without counts.
    table = np.pad(counts[[*groups, LENGTH]].to_numpy(dtype=float), [(0, 1), (0, 0)])
    if len(rows) == shape[0] * shape[1]:
        listed, values = np.ones(shape, dtype=bool), table[rows].reshape(*shape, -1)
    else:
        listed, values = np.zeros(shape, dtype=bool), np.zeros((*shape, len(groups) + 1))
        listed[query, rank], values[query, rank] = True, table[rows]
    return RankedGroups(
        values[..., :-1], values[..., -1], listed, tuple(run.queries), tuple(groups)
    )
