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
    """Read relevance judgements in TREC format."""
    return read_lines(path, QRELS, scale=scale)


def check_qrels(qrels: pd.DataFrame) -> pd.DataFrame:
    """Check judgements that were made in memory as :func:`read_qrels` checks a file."""
    return checked_lines(qrels, QRELS, lambda row: f"Row {row} of the qrels")


def write_qrels(qrels: pd.DataFrame, path: Path | str) -> None:
    """Write judgements in TREC format, rows in their order."""
    frame = check_qrels(qrels)
    write_lines((frame["query"], "0", frame["document"], frame["relevance"]), path)
