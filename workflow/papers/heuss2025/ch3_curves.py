"""Curves of utility against fairness in chapter 3 of heuss2025, compared at the same fairness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from papers.heuss2025.ch3_trade_offs import METRICS

#: Cut-off of a panel -> its measures of utility and of fairness.
PANELS = {"first 10": ("nDCG@10", "nFaiRR@10"), "first 100": ("nDCG@100", "nFaiRR@50")}


class Curves:
    """Means of measures by method and strength, over all queries and over samples of them."""

    def __init__(self, measured: pd.DataFrame, samples: int, rng: np.random.Generator) -> None:
        by_query = measured.set_index(["method", "alpha", "query"])[list(METRICS)].unstack("query")
        self.settings = by_query.index
        self._values = {metric: by_query[metric].to_numpy(dtype=float) for metric in METRICS}
        queries = by_query[METRICS[0]].shape[1]
        # The first sample has each query once.
        self._weights = np.vstack(
            [np.ones(queries), rng.multinomial(queries, np.ones(queries) / queries, size=samples)]
        )

    def means(self, method: str, metric: str) -> tuple[FloatArray, FloatArray]:
        """Strengths of a method, and means of a metric by sample and strength.

        Curves start with UNFAIR, at strength 0.
        """
        names = self.settings.get_level_values("method")
        rows = np.flatnonzero(names == method)
        alphas = self.settings.get_level_values("alpha").to_numpy(dtype=float)[rows]
        rows = np.concatenate([np.flatnonzero(names == "UNFAIR"), rows[np.argsort(alphas)]])
        values = self._values[metric][rows]
        has_value = ~np.isnan(values[0])
        weights = self._weights[:, has_value]
        means = weights @ values[:, has_value].T / weights.sum(axis=1, keepdims=True)
        return np.concatenate([[0.0], np.sort(alphas)]), means

    def utility_at(self, method: str, panel: str, fairness: float) -> FloatArray:
        """Utility of a method at a level of fairness, by sample; NaN outside its curve."""
        utility, fair = PANELS[panel]
        rows = zip(self.means(method, utility)[1], self.means(method, fair)[1], strict=True)
        return np.array(
            [
                np.interp(fairness, np.maximum.accumulate(x), y, left=np.nan, right=np.nan)
                for y, x in rows
            ]
        )


def interval(values: FloatArray) -> tuple[float, float, float]:
    """Value of the first sample, and the bounds of the central 95 % of the others."""
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return float(values[0]), float(low), float(high)


def advantages(
    curves: Curves,
    panels: Sequence[str],
    other_methods: Sequence[str],
    levels: Sequence[float],
    last: tuple[float, float],
) -> pd.DataFrame:
    """Utility of PUFR minus that of other methods, at the same fairness."""

    def rows() -> Iterator[tuple[object, ...]]:
        for panel in panels:
            for method in other_methods:
                differences = {
                    level: curves.utility_at("PUFR", panel, level)
                    - curves.utility_at(method, panel, level)
                    for level in {*levels, *last}
                }
                for level in levels:
                    yield panel, method, f"{level:.2f}", *interval(differences[level])
                change = differences[last[1]] - differences[last[0]]
                yield panel, method, f"{last[1]:.2f} less {last[0]:.2f}", *interval(change)

    columns = ["panel", "method", "fairness", "value", "low", "high"]
    return pd.DataFrame(rows(), columns=columns).dropna().reset_index(drop=True)


def order_violations(curves: Curves, methods: Sequence[str]) -> pd.DataFrame:
    """Largest step of each measure against its expected direction.

    With rising strength, nFaiRR should rise and nDCG should fall. 0 means that a curve is monotone.
    """

    def largest_violation(method: str, metric: str) -> float:
        steps = np.diff(curves.means(method, metric)[1][0])
        violations = -steps if metric.startswith("nFaiRR") else steps
        return float(max(violations.max(), 0.0)) + 0.0

    rows = [
        (method, metric, largest_violation(method, metric))
        for method in methods
        for metric in METRICS
    ]
    return pd.DataFrame(rows, columns=["method", "metric", "value"])


def changes(curves: Curves, method: str, spans: Sequence[tuple[float, float]]) -> pd.DataFrame:
    """Change of each measure over spans of strength, and the first minus the others."""

    def span_changes(metric: str) -> Callable[[tuple[float, float]], FloatArray]:
        alphas, means = curves.means(method, metric)
        return lambda span: (
            means[:, alphas.searchsorted(span[1])] - means[:, alphas.searchsorted(span[0])]
        )

    rows = []
    for metric in METRICS:
        change = span_changes(metric)
        by_span = {f"{span[0]:g} to {span[1]:g}": change(span) for span in spans}
        first, *other_spans = by_span
        for name in other_spans:
            by_span[f"{first}, less {name}"] = by_span[first] - by_span[name]
        rows += [(metric, name, *interval(values)) for name, values in by_span.items()]
    return pd.DataFrame(rows, columns=["metric", "span", "value", "low", "high"])
