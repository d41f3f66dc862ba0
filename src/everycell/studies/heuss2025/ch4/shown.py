"""What each figure of the talent search shows of all attributions, and its drawing."""

from __future__ import annotations

from typing import Literal

import pandas as pd
from matplotlib.figure import Figure

from everycell.engine.render.panels import bar_panels
from everycell.studies.heuss2025.ch4.talent_search import FEATURES

#: How figures name features, in their order.
_SHORT = {name: FEATURES[name] for name in ("req", "university", "grades", "skills", "experience")}

#: Queries and explainers of each figure on single candidates.
OF_CANDIDATES = {
    "4_3": (["qualified", "biased"], ["RankingSHAP", "PointwiseSHAP"]),
    "4_B_3": (None, ["RankingSHAP"]),
    "4_B_4": (None, ["PointwiseSHAP"]),
}
#: Queries of each figure on lists that the biased model ranks; all where none are named.
OF_LISTS = {"4_2": ["average", "qualified", "biased"], "4_B_1": None}


def shown(
    attributions: pd.DataFrame, queries: list[str] | None, explainers: list[str] | None = None
) -> pd.DataFrame:
    """Rows of some queries and explainers, features by their short names in the figures' order.

    Examples
    --------
    >>> frame = pd.DataFrame({"query": "biased", "feature": ["experience", "req"], "value": [1, 2]})
    >>> shown(frame, None)[["feature", "value"]].values.tolist()
    [['req', 2], ['exp', 1]]
    """
    kept = attributions
    for column, names in (("query", queries), ("explainer", explainers)):
        if names is not None:
            kept = kept[kept[column].isin(names)]
    order = kept["feature"].map(list(_SHORT).index)
    keys = [name for name in kept.columns if name not in ("feature", "value")]
    groups = kept.groupby(keys, sort=False).ngroup()
    kept = kept.assign(feature=kept["feature"].map(_SHORT), group=groups, order=order)
    return kept.sort_values(["group", "order"]).drop(columns=["group", "order"])


def bars(
    points: pd.DataFrame, series: Literal["explainer", "candidate"], panel: list[str]
) -> Figure:
    """Bars of attributions by feature; a panel for each value of some columns."""
    titles = points[panel].agg(", ".join, axis=1)
    if series == "candidate":
        points = points.assign(candidate=points["rank"].map("Candidate {}".format))
    return bar_panels(
        points.assign(panel=titles).reset_index(drop=True),
        group="feature",
        series=series,
        panel="panel",
        value_label="Attribution",
    )
