"""Means of the checks over queries, and differences between explainers, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray

#: Explainers that are compared with all others.
COMPARED = ("RShapK", "RShapW", "Greedy")
#: Baseline: random features.
CHANCE = "Random"
_PANEL = ["data", "measure", "check"]


class Means:
    """Means of checks over queries and over samples of queries, by data set."""

    def __init__(
        self, checked: Mapping[str, pd.DataFrame], samples: int, rng: np.random.Generator
    ) -> None:
        self._means: dict[tuple[str, str, str], dict[tuple[str, int], FloatArray]] = {}
        for data, rows in checked.items():
            keys = ["measure", "check", "explainer", "size"]
            by_query = rows.pivot(index=keys, columns="query", values="value")
            # Pivoting sorts the keys; restore the order of the file.
            by_query = by_query.reindex(pd.MultiIndex.from_frame(rows[keys].drop_duplicates()))
            count = by_query.shape[1]
            # The first sample has each query once.
            weights = np.vstack(
                [np.ones(count), rng.multinomial(count, np.full(count, 1 / count), size=samples)]
            )
            means = by_query.to_numpy() @ weights.T / count
            keys = by_query.index
            for (measure, check, explainer, size), values in zip(keys, means, strict=True):
                panel = self._means.setdefault((data, measure, check), {})
                panel[explainer, int(size)] = values

    def curves(self) -> pd.DataFrame:
        """Points of the figure: `_PANEL`, ``explainer``, ``size``, ``value``, ``low``, ``high``."""
        rows = [
            (*panel, explainer, size, *_interval(values))
            for panel, panel_means in self._means.items()
            for (explainer, size), values in panel_means.items()
        ]
        columns = [*_PANEL, "explainer", "size", "value", "low", "high"]
        return pd.DataFrame(rows, columns=columns)

    def _overall(self) -> Iterator[tuple[tuple[str, str, str], dict[str, FloatArray]]]:
        """Mean over sizes of each explainer, by panel."""
        for panel, panel_means in self._means.items():
            names = dict.fromkeys(explainer for explainer, _ in panel_means)
            yield (
                panel,
                {
                    name: np.mean(
                        [v for (explainer, _), v in panel_means.items() if explainer == name], 0
                    )
                    for name in names
                },
            )

    def differences(self) -> pd.DataFrame:
        """Differences between explainers, averaged over sizes."""
        rows = [
            (*panel, name, other, *_interval(panel_means[name] - panel_means[other]))
            for panel, panel_means in self._overall()
            for name in COMPARED
            for other in panel_means
            if other != name
        ]
        return pd.DataFrame(rows, columns=[*_PANEL, "explainer", "other", "value", "low", "high"])

    def ratios(self) -> pd.DataFrame:
        """Ratios of explainers to random features, averaged over sizes."""
        rows = [
            (*panel, name, *_interval(values / panel_means[CHANCE]))
            for panel, panel_means in self._overall()
            if panel[1] != "Kendall's tau"
            for name, values in panel_means.items()
            if name != CHANCE
        ]
        return pd.DataFrame(rows, columns=[*_PANEL, "explainer", "value", "low", "high"])


def _interval(values: FloatArray) -> tuple[float, float, float]:
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return float(values[0]), float(min(low, values[0])), float(max(high, values[0]))


def mean_attributions(attributed: Mapping[str, pd.DataFrame], explainer: str) -> pd.DataFrame:
    """Top ten features of each data set by mean attribution."""
    parts = []
    for data, rows in attributed.items():
        attributions = rows[rows["explainer"] == explainer]
        means = attributions.groupby("feature", sort=False)["value"].mean()
        top = means.sort_values(ascending=False, kind="stable").head(10)
        parts.append(pd.DataFrame({"data": data, "feature": top.index, "value": top.to_numpy()}))
    return pd.concat(parts, ignore_index=True)
