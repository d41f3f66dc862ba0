"""Table 6.8 from scores of responses: clustering and ranking, and effects of changes."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from everycell.collections.ginger import PARTS
from everycell.studies.lajewska2025.ch6.nuggets import (
    MEAN,
    NAMES,
    TEST_DECIMALS,
    change_effects,
    compare_runs,
    mean_scores,
)

#: Change to the standard system (BERTopic, DuoT5) -> clustering and ranking.
CHANGES = {
    "BM25 for DuoT5": ("BERTopic", "BM25"),
    "LSA for BERTopic": ("LSA", "DuoT5"),
    "both": ("LSA", "BM25"),
}
#: The standard system with fewer passages, from Table 6.7.
SMALLER_INPUT = "GINGER-top10 wo/ rewriting"


class PartsTables(NamedTuple):
    """Table 6.8, tests of each variant against the standard one, and effects of changes."""

    cells: pd.DataFrame
    tests: pd.DataFrame
    changes: pd.DataFrame


def parts_tables(scores: pd.DataFrame) -> PartsTables:
    """Table 6.8 and its supplementary tables."""
    scores = scores[scores["judge"] == MEAN]
    by_run = mean_scores(scores).set_index("run")["value"]
    runs = {parts: NAMES[run] for parts, run in PARTS.items()}
    keys = pd.DataFrame(list(runs), columns=["clustering", "ranking"])
    cells = keys.assign(metric=f"V_strict {MEAN}", value=[by_run[run] for run in runs.values()])
    standard, *other_runs = runs.values()
    differences = compare_runs(scores, [(run, standard) for run in other_runs])
    table = keys.iloc[1:].reset_index(drop=True).join(differences[list(TEST_DECIMALS)])
    changes = {name: (runs[parts], standard) for name, parts in CHANGES.items()}
    changes |= {"10 passages for 20": (SMALLER_INPUT, standard)}
    return PartsTables(
        cells,
        table.melt(["clustering", "ranking"], list(TEST_DECIMALS), "metric"),
        change_effects(scores, changes),
    )
