"""How often lists of random items contain an outlier (section 2.7)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from everycell.fair_ranking.policies import holds_outlier
from everycell.studies.heuss2025.ch2.simulation import DISTRIBUTIONS

#: Number of lists in memory at a time.
_BATCH = 50_000


def outlier_chances(lists: int, items: int, seed: int) -> pd.DataFrame:
    """Share of random lists with an outlier, in percent, with its standard error."""
    rng = np.random.default_rng(seed)
    rows = []
    for name, draw in DISTRIBUTIONS.items():
        hits = 0
        for start in range(0, lists, _BATCH):
            count = min(_BATCH, lists - start)
            values = draw(rng, (count * items,))
            has_outlier = holds_outlier(values)(np.arange(count * items).reshape(count, items))
            hits += int(has_outlier.sum())
        share = hits / lists
        error = 100 * np.sqrt(share * (1 - share) / lists)
        rows.append((name, "lists with an outlier", 100 * share, error))
    return pd.DataFrame(rows, columns=["distribution", "metric", "value", "standard_error"])
