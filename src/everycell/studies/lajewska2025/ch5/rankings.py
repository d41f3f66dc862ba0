"""Rankings of three passages per test question of chapter 5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.dialogue.answerability import Repeated, rankings

#: Passages of a ranking (section 5.5).
SIZE = 3
#: How to count a passage that is listed twice for a question; the thesis uses the first way.
READINGS: dict[Repeated, str] = {
    "tuples": "tuples of ids, a set in two orders counted twice",
    "distinct": "sets of different passages",
    "rows": "sets of rows",
}


def ranking_values(
    passages: pd.DataFrame, columns: Sequence[str], repeated: Repeated
) -> dict[str, npt.NDArray]:
    """Values of the passages in each ranking: per column, an array of shape (m, 3)."""
    values: dict[str, list[npt.NDArray]] = {column: [] for column in columns}
    for _, rows in passages.groupby("turn_id", sort=False):
        positions = rankings(rows["passage_id"].tolist(), SIZE, repeated=repeated)
        for column in columns:
            values[column].append(rows[column].to_numpy()[positions])
    return {column: np.concatenate(parts) for column, parts in values.items()}
