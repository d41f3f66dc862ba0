"""Term-based group fairness of many queries, as data frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.metrics.exposure import alignments, awrf
from everycell.metrics.nfairr import TAU, checked_ideal, ideal_fairr, neutrality, nfairr
from everycell.metrics.ranked_counts import RankedCounts
from everycell.metrics.ranked_lists import checked_lists
from everycell.metrics.term_counts import check_counts
from everycell.metrics.texfair import (
    apply_discount,
    check_lengths,
    divergence_and_factor,
    largest_divergence,
)
from everycell.metrics.word_lists import LENGTH

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
    array, mask = checked_lists(counts, listed, "counts")
    tokens, _ = checked_lists(lengths, listed, "lengths", axes=2)
    # Checked before the split into blocks, so that messages number queries across all blocks.
    check_lengths(array, tokens)
    ideal_values = None if ideal is None else checked_ideal(ideal, mask)
    highest = largest_divergence(target, array.shape[2])
    values = {name: np.empty(mask.shape) for name in MEASURES}
    # The intermediate arrays of a block stay in the processor's cache, and each group's numbers
    # are contiguous, which halves the time.
    for start in range(0, len(array), _BLOCK):
        block = slice(start, start + _BLOCK)
        rows, block_mask = np.moveaxis(np.moveaxis(array[block], 2, 0).copy(), 0, 2), mask[block]
        block_ideal = ideal_values
        if ideal_values is not None and len(ideal_values) > 1:
            block_ideal = ideal_values[block]
        divergence, factor = divergence_and_factor(rows, tokens[block], target, None, block_mask)
        block_values = (
            nfairr(rows, tau=tau, target=target, ideal=block_ideal, listed=block_mask),
            np.maximum(highest - apply_discount(divergence, factor), 0),
            np.maximum(highest - divergence, 0),
            awrf(alignments(rows), target, listed=block_mask),
        )
        for name, by_query in zip(MEASURES, block_values, strict=True):
            values[name][block] = by_query
    return values


def fairness_by_query(
    ranked: RankedCounts,
    cutoffs: Iterable[int] = (10,),
    *,
    target: npt.ArrayLike | None = None,
    tau: float = TAU,
    background: RankedCounts | pd.DataFrame | None = None,
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
    >>> from everycell.metrics.ranked_counts import ranked_counts
    >>> frame = pd.DataFrame({"length": [5, 5], "f": [1, 0], "m": [0, 2]}, index=["d1", "d2"])
    >>> run = pd.DataFrame({"query": "q", "document": ["d1", "d2"], "score": [2.0, 1.0]})
    >>> fairness_by_query(ranked_counts(run, frame), [1, 2]).round(3).to_dict("list")
    {'query': ['q', 'q'], 'k': [1, 2], 'NFaiRR': [1.0, 0.613], 'TExFAIR': [0.0, 0.884],
     'TExFAIR without RBDF': [0.0, 0.884], 'AWRF': [1.0, 0.226]}
    """
    depths = list(cutoffs)
    depth = ranked.counts.shape[1]
    for k in depths:
        if not 1 <= k <= depth:
            raise ValueError(
                f"The cut-off {k} is not a rank of the lists; give a number from 1 to {depth}."
            )
    ideal = None
    if background is not None:
        ideal = _background_ideal(ranked, background, tau, target)
    values = fairness_curves(
        ranked.counts, ranked.lengths, target, tau=tau, ideal=ideal, listed=ranked.listed
    )
    columns = [k - 1 for k in depths]
    return pd.DataFrame(
        {
            "query": list(ranked.queries) * len(depths),
            "k": np.repeat(np.array(depths, dtype=int), len(ranked.queries)),
        }
        | {name: by_query[:, columns].T.ravel() for name, by_query in values.items()}
    )


def _background_ideal(
    ranked: RankedCounts,
    background: RankedCounts | pd.DataFrame,
    tau: float,
    target: npt.ArrayLike | None,
) -> FloatArray:
    """IFaiRR of the background at each cut-off, in one row per query or one for all."""
    depth = ranked.counts.shape[1]
    if isinstance(background, pd.DataFrame):
        columns = [column for column in check_counts(background).columns if column != LENGTH]
    else:
        columns = list(background.groups)
    if tuple(columns) != ranked.groups:
        raise ValueError(
            f"The background has the groups {columns} and the lists {list(ranked.groups)}; count "
            "both with the same word list."
        )
    if isinstance(background, pd.DataFrame):
        omega = neutrality(background[columns].to_numpy(dtype=float), tau=tau, target=target)
        return ideal_fairr(omega[None], depth)
    rows = pd.Index(background.queries).get_indexer(list(ranked.queries))
    if (rows < 0).any():
        raise ValueError(
            f"Query {ranked.queries[int((rows < 0).argmax())]!r} has no background documents; give "
            "a background that covers every query of the run."
        )
    omega = neutrality(background.counts[rows], tau=tau, target=target)
    return ideal_fairr(omega, depth, listed=background.listed[rows])


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
        raise ValueError(
            f"The values have the shapes {x.shape} and {y.shape}; give one value of each measure "
            "per query."
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
