"""Ratings and counts of the user studies of chapter 4."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.errors import DataError
from everycell.collections.user_studies import (
    ANSWERABILITY,
    VIEWPOINTS,
    Study,
    read_response_limitations,
)


def both_studies(files: Any) -> Iterator[tuple[Study, pd.DataFrame]]:
    """Both studies with their ratings, from the inputs `answerability` and `viewpoints`."""
    for study, path in ((ANSWERABILITY, files.answerability), (VIEWPOINTS, files.viewpoints)):
        yield study, read_response_limitations(Path(path), study)


def summarise_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Median and share of ratings of 3 or 4 per study, dimension and query, and over queries."""
    over_queries = ratings.assign(query="all")
    groups = pd.concat([ratings.astype({"query": str}), over_queries]).groupby(
        ["study", "dimension", "query"], sort=False
    )["rating"]
    summary = pd.DataFrame(
        {"median": groups.median(), "percent high": 100 * groups.agg(lambda own: (own >= 3).mean())}
    )
    return summary.melt(var_name="metric", ignore_index=False).reset_index()


def exact_quotient(count: int, size: int, unit: str) -> int:
    """Divide a count by a size; a remainder is an error, since the design is balanced."""
    if count % size:
        raise DataError(column=unit, value=count, expected=f"a multiple of {size}")
    return count // size
