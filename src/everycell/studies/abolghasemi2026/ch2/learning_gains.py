"""Gains of trained rankers over their baselines on validation topics."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from scipy import stats


def learning_gains(
    values: Mapping[str, Mapping[str, pd.DataFrame]],
    against: Mapping[str, str],
    *,
    measure: str = "nDCG",
    level: float = 0.05,
) -> pd.DataFrame:
    """Mean gain of each ranker over its baseline, over the topics of all tasks."""
    rows = []
    for system, baseline in against.items():
        gains_by_task = pd.concat(
            by_system[system][measure] - by_system[baseline][measure]
            for by_system in values.values()
        )
        gains = gains_by_task.groupby(level=0).mean()
        if len(gains) < 2:
            raise ValueError(
                f"{len(gains)} validation topics for {system!r}; a t-test needs at least two."
            )
        test = stats.ttest_1samp(gains, 0)
        interval = test.confidence_interval(1 - level)
        numbers = {
            f"gain in {measure}": gains.mean(),
            "low": interval.low,
            "high": interval.high,
            "p": test.pvalue,
            "topics": len(gains),
        }
        rows += [
            {"row": system, "against": baseline, "metric": metric, "value": float(value)}
            for metric, value in numbers.items()
        ]
    return pd.DataFrame(rows)
