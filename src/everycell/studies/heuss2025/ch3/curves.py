"""Curves of utility against fairness, compared at the same fairness, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from everycell.engine.arrays import FloatArray
from everycell.studies.heuss2025.ch3.trade_offs import METRICS

#: Cut-off of a panel -> its measures of utility and of fairness.
PANELS = {"first 10": ("nDCG@10", "nFaiRR@10"), "first 100": ("nDCG@100", "nFaiRR@50")}


class Curves:
    """Means of measures by method and strength, over all queries or over samples of them."""

    def __init__(self, measured: pd.DataFrame, samples: int, rng: np.random.Generator) -> None:
        wide = measured.set_index(["method", "alpha", "query"])[list(METRICS)].unstack("query")
        # UNFAIR is where each curve starts.
        self.settings = wide.index
        self._values = {metric: wide[metric].to_numpy(dtype=float) for metric in METRICS}
        queries = wide[METRICS[0]].shape[1]
        # The first sample is the queries themselves.
        self._weights = np.vstack(
            [np.ones(queries), rng.multinomial(queries, np.ones(queries) / queries, size=samples)]
        )

    def means(self, method: str, metric: str) -> tuple[FloatArray, FloatArray]:
        """Strengths of a method from 0, and means by sample and strength."""
        names = self.settings.get_level_values("method")
        rows = np.flatnonzero(names == method)
        alphas = self.settings.get_level_values("alpha").to_numpy(dtype=float)[rows]
        rows = np.concatenate([np.flatnonzero(names == "UNFAIR"), rows[np.argsort(alphas)]])
        values = self._values[metric][rows]
        judged = ~np.isnan(values[0])
        weights = self._weights[:, judged]
        means = weights @ values[:, judged].T / weights.sum(axis=1, keepdims=True)
        return np.concatenate([[0.0], np.sort(alphas)]), means

    def utility_at(self, method: str, panel: str, fairness: float) -> FloatArray:
        """Utility of a method where its curve reaches a fairness, by sample; NaN beyond its end."""
        utility, fair = PANELS[panel]
        rows = zip(self.means(method, utility)[1], self.means(method, fair)[1], strict=True)
        return np.array(
            [
                np.interp(fairness, np.maximum.accumulate(x), y, left=np.nan, right=np.nan)
                for y, x in rows
            ]
        )


def interval(values: FloatArray) -> tuple[float, float, float]:
    """Value of the first sample, and the ends of the middle 95 % of the others.

    Examples
    --------
    >>> interval(np.array([5.0, *range(101)]))
    (5.0, 2.5, 97.5)
    """
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return float(values[0]), float(low), float(high)


def advantages(
    curves: Curves,
    panels: Sequence[str],
    other_methods: Sequence[str],
    levels: Sequence[float],
    last: tuple[float, float],
) -> pd.DataFrame:
    """How much more utility PUFR has than other methods at the same fairness."""

    def rows() -> Iterator[tuple[object, ...]]:
        for panel in panels:
            for other in other_methods:
                gained = {
                    level: curves.utility_at("PUFR", panel, level)
                    - curves.utility_at(other, panel, level)
                    for level in {*levels, *last}
                }
                for level in levels:
                    yield panel, other, f"{level:.2f}", *interval(gained[level])
                change = gained[last[1]] - gained[last[0]]
                yield panel, other, f"{last[1]:.2f} less {last[0]:.2f}", *interval(change)

    columns = ["panel", "method", "fairness", "value", "low", "high"]
    return pd.DataFrame(rows(), columns=columns).dropna().reset_index(drop=True)


def order_violations(curves: Curves, methods: Sequence[str]) -> pd.DataFrame:
    """How far each measure moves against its direction while the strength rises.

    nFaiRR is to rise and nDCG to fall. 0 means that a curve is monotone.
    """

    def largest(method: str, metric: str) -> float:
        steps = np.diff(curves.means(method, metric)[1][0])
        wrong = -steps if metric.startswith("nFaiRR") else steps
        return float(max(wrong.max(), 0.0)) + 0.0

    rows = [(method, metric, largest(method, metric)) for method in methods for metric in METRICS]
    return pd.DataFrame(rows, columns=["method", "metric", "value"])


def changes(curves: Curves, method: str, spans: Sequence[tuple[float, float]]) -> pd.DataFrame:
    """How much each measure changes between two strengths, and the first span less the others."""

    def between(metric: str) -> Callable[[tuple[float, float]], FloatArray]:
        alphas, means = curves.means(method, metric)
        return lambda span: (
            means[:, alphas.searchsorted(span[1])] - means[:, alphas.searchsorted(span[0])]
        )

    rows = []
    for metric in METRICS:
        change = between(metric)
        by_span = {f"{span[0]:g} to {span[1]:g}": change(span) for span in spans}
        first, *other_spans = by_span
        for name in other_spans:
            by_span[f"{first}, less {name}"] = by_span[first] - by_span[name]
        rows += [(metric, name, *interval(values)) for name, values in by_span.items()]
    return pd.DataFrame(rows, columns=["metric", "span", "value", "low", "high"])
