"""Relevance judgements (qrels): read, checked and written."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.trec.lines import (
    QRELS,
    checked_lines,
    read_lines,
    write_lines,
)


def read_qrels(path: Path | str, *, scale: tuple[int, int] | None = None) -> pd.DataFrame:
    """Read relevance judgements in TREC format.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cite.qrels"
    >>> _ = path.write_text("q1 0 d1 1" + chr(10) + "q1 0 d2 0")
    >>> read_qrels(path, scale=(0, 1)).values.tolist()
    [['q1', 'd1', 1], ['q1', 'd2', 0]]
    """
    return read_lines(path, QRELS, scale=scale)


def check_qrels(qrels: pd.DataFrame) -> pd.DataFrame:
    """Check judgements that were made in memory as :func:`read_qrels` checks a file.

    Examples
    --------
    >>> frame = pd.DataFrame({"query": ["q"], "document": ["d"], "relevance": [True]})
    >>> check_qrels(frame).values.tolist()
    [['q', 'd', 1]]
    """
    return checked_lines(qrels, QRELS, lambda row: f"Row {row} of the qrels")


def write_qrels(qrels: pd.DataFrame, path: Path | str) -> None:
    """Write judgements in TREC format, rows in their order.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cite.qrels"
    >>> frame = pd.DataFrame({"query": ["q1"], "document": ["d1"], "relevance": [1]})
    >>> write_qrels(frame, path)
    >>> print(path.read_text())
    q1 0 d1 1
    """
    frame = check_qrels(qrels)
    write_lines((frame["query"], "0", frame["document"], frame["relevance"]), path)
