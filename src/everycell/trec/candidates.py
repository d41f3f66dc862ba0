"""Candidates: the documents of each query that a re-ranker scores."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from everycell.trec.lines import (
    CANDIDATES,
    checked_lines,
    read_lines,
    write_lines,
)


def read_candidates(path: Path | str, *, queries: Iterable[str] | None = None) -> pd.DataFrame:
    """Read the documents to rank for each query: two fields per line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cite.candidates"
    >>> _ = path.write_text("q1 d1" + chr(10) + "q1 d2")
    >>> read_candidates(path).values.tolist()
    [['q1', 'd1'], ['q1', 'd2']]
    """
    return read_lines(path, CANDIDATES, queries=queries)


def check_candidates(candidates: pd.DataFrame) -> pd.DataFrame:
    """Check candidate lists that were made in memory as :func:`read_candidates` checks a file.

    Examples
    --------
    >>> check_candidates(pd.DataFrame({"query": ["q", "q"], "document": ["d", "d"]}))
    Traceback (most recent call last):
    ValueError: Row 1 of the candidates has the document 'd' of query 'q' for the second time:
    a document occurs once in a query's list; keep one of the two.
    """
    return checked_lines(candidates, CANDIDATES, lambda row: f"Row {row} of the candidates")


def write_candidates(candidates: pd.DataFrame, path: Path | str) -> None:
    """Write candidate lists, two fields per line, rows in their order.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cite.candidates"
    >>> write_candidates(pd.DataFrame({"query": ["q1"], "document": ["d1"]}), path)
    >>> print(path.read_text())
    q1 d1
    """
    frame = check_candidates(candidates)
    write_lines((frame["query"], frame["document"]), path)
