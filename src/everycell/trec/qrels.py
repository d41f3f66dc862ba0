"""Read, check and write relevance judgements (qrels) in TREC format."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.trec.lines import (
    QRELS,
    check_frame,
    read_lines,
    write_lines,
)


def read_qrels(path: Path | str, *, scale: tuple[int, int] | None = None) -> pd.DataFrame:
    """Read relevance judgements in TREC format."""
    return read_lines(path, QRELS, scale=scale)


def check_qrels(qrels: pd.DataFrame) -> pd.DataFrame:
    """Check a frame of relevance judgements as :func:`read_qrels` checks a file."""
    return check_frame(qrels, QRELS, lambda row: f"Row {row} of the qrels")


def write_qrels(qrels: pd.DataFrame, path: Path | str) -> None:
    """Write relevance judgements in TREC format, in the order of the rows."""
    frame = check_qrels(qrels)
    write_lines((frame["query"], "0", frame["document"], frame["relevance"]), path)
