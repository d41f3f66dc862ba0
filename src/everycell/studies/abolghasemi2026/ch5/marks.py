"""Significance markers and textual values in the chapter's results.

A *result* has the key columns of its published table, then `metric`, `value`, the bounds `low` and
`high` of a 95 % bootstrap interval over questions, `p` of the chapter's paired t-test (or NaN) and
`marker`, a dagger where p < 0.05. `citations` is the number of citations behind a value that
depends only on citations. Two values are text: `NO_CITATION` if no citation counts towards a value
(0/0), and `NOT_RUN` if a generator returns no probabilities.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

DAGGER = "†"
NO_CITATION = "no citation"
NOT_RUN = "not run"
#: Level of the chapter's tests.
ALPHA = 0.05
NUMBERS = ["metric", "value", "low", "high", "p"]


def add_markers(table: pd.DataFrame) -> pd.DataFrame:
    """Add daggers to a result, from its column `p`."""
    return table.assign(marker=np.where(table["p"].astype(float) < ALPHA, DAGGER, ""))
