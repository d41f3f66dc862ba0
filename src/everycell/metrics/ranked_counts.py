"""Group terms of ranked documents as arrays, from a run and the counts of a collection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api.extensions import take

from everycell.base.arrays import BoolArray, FloatArray
from everycell.metrics.term_counts import check_counts, read_counts
from everycell.metrics.word_lists import LENGTH
from everycell.trec.runs import trec_order

#: How to treat a document without counts: as an error, or as one without group terms.
Unknown = Literal["error", "neutral"]


@dataclass(frozen=True)
class RankedCounts:
    """Ranked lists as arrays for the measures.

    Attributes
    ----------
    queries : tuple of Q str
        In the order of their first occurrence in the run.
    groups : tuple of G str
        In the order of the counts.
    counts : array, shape (Q, R, G)
        Group terms of the document at each rank; 0 at ranks without a document.
    lengths : array, shape (Q, R)
        Number of tokens of the document at each rank; 0 at ranks without a document.
    listed : array of bool, shape (Q, R)
        Whether there is a document at the rank.
    """

    queries: tuple[str, ...]
    groups: tuple[str, ...]
    counts: FloatArray
    lengths: FloatArray
    listed: BoolArray


def ranked_counts(
    run: pd.DataFrame,
    counts: pd.DataFrame | Path | str,
    *,
    depth: int | None = None,
    unknown: Unknown = "error",
) -> RankedCounts:
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
    RankedCounts

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
    if depth is not None and depth < 1:
        raise ValueError(f"The depth is {depth}; give 1 rank or more.")
    if unknown not in ("error", "neutral"):
        raise ValueError(f"unknown is {unknown!r}; choose 'error' or 'neutral'.")
    sorted_run = trec_order(run)
    ranked = sorted_run.assign(rank=sorted_run.groupby("query", sort=False).cumcount().to_numpy())
    if depth is not None:
        ranked = ranked[ranked["rank"] < depth]
    documents = ranked["document"]
    if isinstance(counts, pd.DataFrame):
        frame = check_counts(counts)
    else:
        frame = read_counts(counts, pd.Index(documents.unique()))
    # One look-up of all ids, because it takes most of the time; -1 marks a document without counts.
    rows = frame.index.get_indexer(documents)
    if unknown == "error" and (rows < 0).any():
        missing = documents[rows < 0].unique()
        raise ValueError(
            f"Document {missing[0]!r} of the run has no counts ({len(missing)} of "
            f"{documents.nunique()} documents have none); count the collection that was searched, "
            "or treat such documents as neutral with unknown='neutral'."
        )
    groups = [column for column in frame.columns if column != LENGTH]
    codes, queries = pd.factorize(ranked["query"])
    positions = codes, ranked["rank"].to_numpy()
    shape = len(queries), depth or int(ranked["rank"].max()) + 1
    by_rank = np.zeros((*shape, len(groups)))
    by_rank[positions] = take(
        frame[groups].to_numpy(dtype=float), rows, allow_fill=True, fill_value=0.0
    )
    lengths = np.zeros(shape)
    lengths[positions] = take(
        frame[LENGTH].to_numpy(dtype=float), rows, allow_fill=True, fill_value=0.0
    )
    listed = np.zeros(shape, dtype=bool)
    listed[positions] = True
    return RankedCounts(tuple(queries), tuple(groups), by_rank, lengths, listed)
