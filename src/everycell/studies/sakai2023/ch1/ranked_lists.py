"""GFR, the measure that GFRC extends, of the ranked lists of FairWeb-1 (section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.metrics.divergences import AttributeSet
from everycell.metrics.gfr import gfr

Pair = tuple[str, str]


def gfr_cells(
    lists: Mapping[Pair, Sequence[str]],
    gains: Mapping[Pair, float],
    memberships: Mapping[str, Mapping[Pair, Sequence[float]]],
    attribute_sets: Mapping[str, Mapping[str, AttributeSet]],
    max_gain: float,
) -> pd.DataFrame:
    """Relevance, group fairness and GFR of complete ranked lists.

    Pages without memberships belong to all groups equally.
    """
    rows = []
    for (topic, run), pages in lists.items():
        sets = attribute_sets[topic]
        shares = {}
        for name, group in sets.items():
            uniform = [1 / len(group.target)] * len(group.target)
            shares[name] = [[memberships[name].get((topic, page), uniform) for page in pages]]
        scores = gfr(
            [[gains.get((topic, page), 0.0) for page in pages]], shares, sets, max_gain=max_gain
        )
        values = {"GFR": scores.combined, "ERR": scores.utility}
        for name, group in sets.items():
            values[f"{name} ({group.divergence})"] = scores.by_attribute_set[name]
        rows += [(topic, run, metric, value[0, -1]) for metric, value in values.items()]
    return pd.DataFrame(rows, columns=["topic", "run", "metric", "value"])
