"""Runs of the TREC format: scored documents of each query, in trec_eval's order.

The ranks and the order of the lines are ignored, as in trec_eval: the scores decide, and documents
of equal score are ordered by descending id (`trec_order`). Scores are compared as 32-bit floats, as
trec_eval 9 and pytrec_eval hold them; trec_eval 10 has 64 bits. Where the difference matters, a
warning says so. If the ranks of a file matter to you, let `read_run` refuse ranks that contradict
the scores.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from everycell.engine.arrays import IntArray
from everycell.engine.untrusted import in_quotes
from everycell.trec.lines import (
    _CUTS_AN_ID,
    CANDIDATES,
    RUN,
    Ranks,
    checked_lines,
    read_lines,
    write_lines,
)

Outside = Literal["error", "drop"]


def read_run(
    path: Path | str, *, queries: Iterable[str] | None = None, ranks: Ranks = "ignore"
) -> pd.DataFrame:
    """Read a run in TREC format."""
    if ranks not in ("ignore", "error"):
        raise ValueError(f"ranks is {ranks!r}: give 'ignore' or 'error'.")
    return read_lines(path, RUN, ranks=ranks == "error", queries=queries)


def check_run(run: pd.DataFrame) -> pd.DataFrame:
    """Check a run that was made in memory as :func:`read_run` checks a file."""
    return checked_lines(run, RUN, lambda row: f"Row {row} of the run")


def check_candidates(candidates: pd.DataFrame) -> pd.DataFrame:
    """Check the documents of each query that a re-ranker scores.

    Examples
    --------
    >>> check_candidates(pd.DataFrame({"query": ["q", "q"], "document": ["d", "d"]}))
    Traceback (most recent call last):
    ValueError: Row 1 of the candidates has the document 'd' of query 'q' for the second time:
    a document occurs once in a query's list; keep one of the two.
    """
    return checked_lines(candidates, CANDIDATES, lambda row: f"Row {row} of the candidates")


def write_run(run: pd.DataFrame, path: Path | str, *, tag: str) -> None:
    """Write a run in TREC format, in trec_eval's order, with ranks from 1."""
    if not tag or re.search(_CUTS_AN_ID, tag):
        raise ValueError(
            f"The tag of the run for {path} is {tag!r}: give one character or more and no white "
            "space."
        )
    ordered = trec_order(run)
    rank = ordered.groupby("query", sort=False).cumcount() + 1
    write_lines((ordered["query"], "Q0", ordered["document"], rank, ordered["score"], tag), path)


def restrict_run(
    run: pd.DataFrame,
    candidates: pd.DataFrame,
    *,
    missing: float | None = None,
    outside: Outside = "error",
) -> pd.DataFrame:
    """Make a run score exactly the candidates, no more and no fewer."""
    if outside not in ("error", "drop"):
        raise ValueError(f"outside is {outside!r}: give 'error' or 'drop'.")
    if missing is not None and not np.isfinite(np.float32(missing)):
        raise ValueError(f"missing is {missing!r}: give a finite score, or None for an error.")
    run, candidates = check_run(run), check_candidates(candidates)
    merged = candidates.merge(run, on=["query", "document"], how="left")
    lacking = merged["score"].isna().to_numpy()
    if outside == "error" and len(merged) - lacking.sum() < len(run):
        known = pd.MultiIndex.from_frame(candidates)
        row = int(np.argmin(pd.MultiIndex.from_frame(run[["query", "document"]]).isin(known)))
        raise ValueError(
            f"Row {row} of the run scores the document {run['document'].iloc[row]!r}, which is "
            "not a "
            f"candidate of query {run['query'].iloc[row]!r}: add it to the candidates, or leave "
            "out what is not a candidate with outside='drop'."
        )
    if lacking.any():
        if missing is None:
            row = int(np.argmax(lacking))
            raise ValueError(
                f"The run has no score for the candidate {merged['document'].iloc[row]!r} of query "
                f"{merged['query'].iloc[row]!r} ({lacking.sum()} of {len(merged)} candidates): "
                "score it, or name the score of missing ones with missing=."
            )
        merged["score"] = merged["score"].fillna(float(missing))
    return merged


def id_order(ids: pd.Series | pd.Index) -> IntArray:
    """Place of each id in the descending order of ids, by the bytes of their UTF-8."""
    codes, names = pd.factorize(ids)
    order = pc.sort_indices(pa.array(names, pa.string()), sort_keys=[("", "descending")])
    position = np.empty(len(names), dtype=np.int64)
    position[order.to_numpy()] = np.arange(len(names))
    return position[codes]


def trec_order(run: pd.DataFrame) -> pd.DataFrame:
    """Order a run's rows as trec_eval ranks them."""
    return order_run(check_run(run))


def order_run(run: pd.DataFrame) -> pd.DataFrame:
    """As `trec_order`, for a run that is checked."""
    query, _ = pd.factorize(run["query"])
    score = run["score"].to_numpy().astype(np.float32)
    order = np.lexsort((-score, query))
    # Sorting ids is slow, and only the ids of ties matter.
    above, below = order[:-1], order[1:]
    equal = (query[above] == query[below]) & (score[above] == score[below])
    warn_of_collapse(run, above[equal], below[equal])
    tied = order[np.append(equal, False) | np.append(False, equal)]
    order_of_ties = np.zeros(len(run), dtype=np.int64)
    order_of_ties[tied] = id_order(run["document"].iloc[tied])
    order = np.lexsort((order_of_ties, -score, query))
    return run.iloc[order].reset_index(drop=True)


def warn_of_collapse(run: pd.DataFrame, above: IntArray, below: IntArray) -> None:
    """Warn if rows of a run that tie as 32-bit floats have different scores."""
    score = run["score"].to_numpy()
    different = np.flatnonzero(score[above] != score[below])
    if len(different):
        first, second = above[different[0]], below[different[0]]
        warnings.warn(
            f"The scores {float(score[first])} and {float(score[second])} of query "
            f"{in_quotes(run['query'].iloc[first])} are equal as 32-bit floats (pairs of the run "
            f"like this: {len(different)}), and are ordered by document id, as by trec_eval 9; "
            "trec_eval 10 keeps them apart. If their order matters, write scores that differ in "
            "the first seven digits.",
            stacklevel=4,
        )
