"""Usefulness by quality and form of explanations, in chapter 7 of lajewska2025 (Figure 7.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from scipy import stats

from everycell.jobs.result_job import ResultJob
from everycell.render.figures import bar_panels
from everycell.statistics.anova import anova
from papers.lajewska2025.user_study_data import read_transparency

QUALITY, MODE = "Explanation Quality", "Presentation Mode"
#: Levels of the factors in Figure 7.4.
QUALITY_NAMES = {"Good": "accurate", "Flawed": "noisy", "None": "no explanation"}
MODE_NAMES = {"T": "textual", "V": "visual", "None": "no explanation"}
RESPONSE_NAMES = {
    "all": "all responses",
    "Good": "perfect responses",
    "Flawed": "imperfect responses",
}


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


COMPARED_BARS: Sequence[Bars] = (
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
    for bars in COMPARED_BARS:
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
    return pd.DataFrame(cells, columns=["rating", "comparison", "among", "metric", "value"])


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


def _panel(rows: pd.DataFrame, rating: str, factor: str, panel: str, series: str) -> pd.DataFrame:
    """Mean of a rating by the levels of a factor, as one series of a panel."""
    names = QUALITY_NAMES if factor == QUALITY else MODE_NAMES
    by_level = rows.groupby(factor)[rating].mean()
    groups = {names[level]: by_level[level] for level in names if level in by_level}
    frame = pd.DataFrame({"group": list(groups), "value": list(groups.values())})
    return frame.assign(panel=panel, series=series)


def means(job: ResultJob) -> None:
    """Figure 7.4: mean usefulness of responses and mean ratings of explanations."""
    ratings = read_transparency(Path(job.input.ratings))
    explained = ratings[ratings[QUALITY] != "None"]
    parts = []
    for level, name in RESPONSE_NAMES.items():
        rows = ratings if level == "all" else ratings[ratings["Response Quality"] == level]
        panel = "Usefulness by quality of the explanations"
        parts.append(_panel(rows, "Usefulness", QUALITY, panel, name))
    for rating in ("Source", "Confidence"):
        parts.append(_panel(explained, rating, QUALITY, "Explanations by their quality", rating))
    for level, name in (("all", "all explanations"), *list(QUALITY_NAMES.items())[:2]):
        rows = ratings if level == "all" else ratings[ratings[QUALITY] == level]
        panel = "Usefulness by form of the explanations"
        parts.append(_panel(rows, "Usefulness", MODE, panel, name))
    for rating in ("Limitations", "Confidence"):
        parts.append(_panel(explained, rating, MODE, "Explanations by their form", rating))
    plotted = pd.concat(parts, ignore_index=True)[["panel", "series", "group", "value"]]
    job.write_figure(
        plotted,
        bar_panels(
            plotted,
            group="group",
            series="series",
            panel="panel",
            group_label="Explanations",
            value_label="Mean rating (1 to 4)",
            scale=(1, 4),
        ),
    )
    tests = differences(ratings)
    job.write_supplement(tests, "tests", dict.fromkeys(tests["metric"].unique(), 3))
