"""Figure 7.4: tests of the differences between bars that the text describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from scipy import stats

from everycell.statistics.anova import anova

QUALITY, MODE = "Explanation Quality", "Presentation Mode"
KEYS = ["rating", "comparison", "among"]


@dataclass(frozen=True)
class Bars:
    """Two bars of a panel: a rating at two levels of a factor, in a subset of the rows."""

    rating: str
    factor: str
    first: str
    second: str
    comparison: str
    among: str = "all"
    where: Mapping[str, str] = field(default_factory=dict)


def _usefulness(factor: str, first: str, second: str, comparison: str) -> list[Bars]:
    """Bars of usefulness for all, perfect and imperfect responses."""
    parts = {
        "all": {},
        "perfect responses": {"Response Quality": "Good"},
        "imperfect responses": {"Response Quality": "Flawed"},
    }
    return [
        Bars("Usefulness", factor, first, second, comparison, among, where)
        for among, where in parts.items()
    ]


COMPARED: Sequence[Bars] = (
    *_usefulness(QUALITY, "Good", "Flawed", "accurate - noisy"),
    *_usefulness(QUALITY, "None", "Good", "none - accurate"),
    *_usefulness(QUALITY, "None", "Flawed", "none - noisy"),
    Bars("Source", QUALITY, "Good", "Flawed", "accurate - noisy"),
    Bars("Confidence", QUALITY, "Good", "Flawed", "accurate - noisy"),
    Bars("Usefulness", MODE, "V", "T", "visual - textual"),
    Bars("Usefulness", MODE, "None", "T", "none - textual"),
    Bars("Usefulness", MODE, "None", "V", "none - visual"),
    Bars("Usefulness", MODE, "V", "T", "visual - textual", "accurate", {QUALITY: "Good"}),
    Bars("Usefulness", MODE, "V", "T", "visual - textual", "noisy", {QUALITY: "Flawed"}),
    Bars("Limitations", MODE, "V", "T", "visual - textual"),
    Bars("Confidence", MODE, "V", "T", "visual - textual"),
)


def differences(ratings: pd.DataFrame) -> pd.DataFrame:
    """Differences between bars of Figure 7.4, with tests over ratings and over workers."""
    cells = []
    for bars in COMPARED:
        rows = ratings
        for column, level in bars.where.items():
            rows = rows[rows[column] == level]
        sides = [rows[rows[bars.factor] == level] for level in (bars.first, bars.second)]
        means = [side.groupby("Worker")[bars.rating].mean() for side in sides]
        by_worker = stats.ttest_ind(*means)
        interval = by_worker.confidence_interval(0.95)
        values = {
            "difference": sides[0][bars.rating].mean() - sides[1][bars.rating].mean(),
            "low": interval.low,
            "high": interval.high,
            "p ratings": stats.ttest_ind(*(side[bars.rating] for side in sides)).pvalue,
            "p worker means": by_worker.pvalue,
        }
        key = (bars.rating, bars.comparison, bars.among)
        cells += [(*key, name, float(value)) for name, value in values.items()]
    cells += [("Usefulness", "crossover", "all", *cell) for cell in _crossover(ratings).items()]
    return pd.DataFrame(cells, columns=[*KEYS, "metric", "value"])


def _crossover(ratings: pd.DataFrame) -> dict[str, float]:
    """Interaction of explanation quality and presentation mode in usefulness."""
    explained = ratings[ratings[QUALITY] != "None"]
    means = explained.groupby([QUALITY, MODE])["Usefulness"].mean()
    gains = [means[quality, "V"] - means[quality, "T"] for quality in ("Good", "Flawed")]
    workers = explained.groupby("Worker").agg(
        {"Usefulness": "mean", QUALITY: "first", MODE: "first"}
    )

    def interaction_p(rows: pd.DataFrame) -> float:
        return float(anova(rows, "Usefulness", [QUALITY, MODE]).loc[f"{QUALITY}:{MODE}", "p"])

    return {
        "difference": float(gains[0] - gains[1]),
        "p ratings": interaction_p(explained),
        "p worker means": interaction_p(workers),
    }
