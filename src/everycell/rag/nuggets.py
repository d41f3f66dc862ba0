r"""Scores of a response from nugget labels: V_strict and its variants (AutoNuggetizer).

A nugget is a fact that a good answer contains. It is *vital* (required) or *okay* (optional), and a
response supports it fully, partially or not at all. All six scores are weighted means,

.. math:: \frac{\sum_i w(\mathrm{importance}_i)\, g(\mathrm{support}_i)}
               {\sum_i w(\mathrm{importance}_i)},

========  ==============  =============  =====================
score     w(vital)        w(okay)        g(partial support)
========  ==============  =============  =====================
V_strict  1               0              0
V         1               0              1/2
A_strict  1               1              0
A         1               1              1/2
W_strict  1               1/2            0
W         1               1/2            1/2
========  ==============  =============  =====================

with g = 1 for full support and 0 for none. Each lies in [0, 1], a strict score is never above its
lenient variant, and W lies between V and A.

Source: lajewska2025, section 6.4.1 (L1772), has V_strict; the others are from Pradeep et al.,
"Initial nugget evaluation results for the TREC 2024 RAG track with the AutoNuggetizer framework"
(arXiv 2411.09607).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

#: Columns that identify a response of a judge, and a nugget of a judge.
RESPONSE = ("judge", "run", "topic")
NUGGET = ("judge", "topic", "nugget")


class NuggetMeasure(NamedTuple):
    """Weight of a nugget by its importance, and credit by its support; 0 for other labels."""

    weight: Mapping[str, float]
    credit: Mapping[str, float]


_STRICT = {"support": 1.0}
_LENIENT = {"support": 1.0, "partial_support": 0.5}
_VITAL, _ALL, _WEIGHTED = {"vital": 1.0}, {"vital": 1.0, "okay": 1.0}, {"vital": 1.0, "okay": 0.5}
MEASURES: Mapping[str, NuggetMeasure] = {
    "V_strict": NuggetMeasure(_VITAL, _STRICT),
    "V": NuggetMeasure(_VITAL, _LENIENT),
    "A_strict": NuggetMeasure(_ALL, _STRICT),
    "A": NuggetMeasure(_ALL, _LENIENT),
    "W_strict": NuggetMeasure(_WEIGHTED, _STRICT),
    "W": NuggetMeasure(_WEIGHTED, _LENIENT),
}


def nugget_scores(
    nuggets: pd.DataFrame, responses: pd.DataFrame, measure: str = "V_strict"
) -> pd.DataFrame:
    """Score responses by their nuggets."""
    if measure not in MEASURES:
        raise ValueError(
            f"The measure {measure!r} is unknown; choose one of {', '.join(MEASURES)}."
        )
    weight, credit = MEASURES[measure]
    keys = list(RESPONSE)
    # Floats even if there are no nuggets.
    weights = nuggets["importance"].map(weight).astype(float).fillna(0.0)
    earned = weights * nuggets["support"].map(credit).astype(float).fillna(0.0)
    sums = nuggets[keys].assign(weight=weights, earned=earned).groupby(keys).sum()
    index = pd.MultiIndex.from_frame(responses[keys])
    unknown = sums.index.difference(index)
    if len(unknown):
        raise ValueError(
            f"The nuggets have the response {dict(zip(keys, unknown[0], strict=True))}, which is "
            "missing from the responses; add the response or remove its nuggets."
        )
    sums = sums.reindex(index, fill_value=0.0)
    value = sums["earned"] / sums["weight"].where(sums["weight"] > 0)
    return responses[keys].assign(value=value.fillna(0.0).to_numpy())


def lowercase_importance(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Convert labels of importance to lower case.

    The authors' code is case-sensitive: the label "Vital" has weight 0.
    """
    return nuggets.assign(importance=nuggets["importance"].str.lower())


def unify_importance(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Give each nugget the same importance in all runs: its judge's most frequent label.

    In a tie, the nugget is vital. The authors determined importance separately for each run, so
    that two systems may be scored on different vital nuggets.
    """
    labels = nuggets["importance"].str.lower()
    vital = (labels == "vital").astype(float).where(labels != "")
    share = vital.groupby([nuggets[name] for name in NUGGET]).transform("mean")
    importance = (share >= 0.5).map({True: "vital", False: "okay"}).where(share.notna(), "")
    return nuggets.assign(importance=importance)
