"""Group fairness of a user's own runs and collections: all measures in one table.

`everycell measure fairness` reports NFaiRR (`everycell.metrics.nfairr`) and TExFAIR
(`everycell.metrics.texfair`) together. Some input is valid for the measures but usually a mistake,
such as a list shorter than the cut-off; `fairness_report` rejects it unless it is explicitly
allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.dataset

from everycell.base.parquet_limits import check_parquet_size
from everycell.metrics.fairness_frames import correlation, fairness_by_query
from everycell.metrics.nfairr import TAU, neutrality
from everycell.metrics.ranked_counts import RankedCounts, Unknown, ranked_counts
from everycell.metrics.ranked_lists import checked_target
from everycell.metrics.term_counts import check_counts
from everycell.metrics.texfair import largest_divergence
from everycell.metrics.word_lists import DOCUMENT, LENGTH

Background = Literal["all", "run"]


def find_most_neutral(
    path: Path | str, number: int, *, tau: float = TAU, target: npt.ArrayLike | None = None
) -> pd.DataFrame:
    """Find the most neutral documents of a counts file, in constant memory."""
    best: list[pd.DataFrame] = []
    check_parquet_size(path)
    for batch in pyarrow.dataset.dataset(path, format="parquet").to_batches():
        rows = check_counts(pd.concat([*best, batch.to_pandas().set_index(DOCUMENT)]))
        omega = neutrality(rows.drop(columns=LENGTH).to_numpy(dtype=float), tau=tau, target=target)
        order = np.argsort(-omega, kind="stable")[:number]
        best = [rows.iloc[order]]
        if len(order) == number and omega[order[-1]] == 1:
            break
    return best[0]


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
    if not depths or min(depths) < 1:
        raise ValueError(f"The cut-offs are {depths}; give at least one, all of them 1 or more.")
    if background not in ("all", "run"):
        raise ValueError(f"The background is {background!r}; choose 'all' or 'run'.")
    depth = max(depths)
    ranked = ranked_counts(run, counts, depth=depth, unknown=unknown)
    shares = checked_target(target, len(ranked.groups))
    if not allow_short:
        _refuse_short(ranked)
    if not allow_empty and unknown == "error":
        _refuse_empty(ranked)
    background_counts: pd.DataFrame | RankedCounts
    if background == "run":
        background_counts = ranked_counts(run, counts, unknown=unknown)
    elif isinstance(counts, pd.DataFrame):
        background_counts = counts
    else:
        background_counts = find_most_neutral(counts, depth, tau=tau, target=shares)
    by_query = fairness_by_query(
        ranked, depths, target=shares, tau=tau, background=background_counts
    )
    columns = [k - 1 for k in depths]
    with_terms = np.cumsum(ranked.counts.sum(axis=2) > 0, axis=1)[:, columns].T.ravel()
    documents = np.cumsum(ranked.listed, axis=1)[:, columns].T.ravel()
    by_query = by_query.assign(**{"documents": documents, "with terms": with_terms})
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


def _refuse_short(ranked: RankedCounts) -> None:
    depth = ranked.listed.shape[1]
    is_short = ~ranked.listed[:, -1]
    if is_short.any():
        query = int(is_short.argmax())
        raise ValueError(
            f"Query {ranked.queries[query]!r} has {ranked.listed[query].sum()} documents, fewer "
            f"than the cut-off {depth} ({is_short.sum()} of {len(is_short)} queries have fewer); "
            "retrieve more documents, use a smaller cut-off, or keep such lists (--allow-short)."
        )


def _refuse_empty(ranked: RankedCounts) -> None:
    is_empty = ranked.listed & (ranked.lengths == 0)
    if is_empty.any():
        query, rank = np.argwhere(is_empty)[0]
        raise ValueError(
            f"The document at rank {rank + 1} of query {ranked.queries[query]!r} has the length 0 "
            f"({is_empty.sum()} of {ranked.listed.sum()} ranked documents are empty); remove it "
            "from the run, or treat it as neutral (--allow-empty)."
        )
