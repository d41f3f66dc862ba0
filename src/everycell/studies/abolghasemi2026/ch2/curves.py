"""Effectiveness of combinations by the weight of the first system (Figure 2.3)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from everycell.retrieval.interpolation import Sweep, oracle

#: Series of the figure -> its name as published.
SERIES = {
    "curve": "non-oracle (blue)",
    "oracle": "oracle (orange)",
    "noise oracle": "noise oracle (ours)",
}
BEST_OF_EACH = "per query best of {0,0.1,...,1}"
CELL = ["combination", "task", "metric"]
#: Points of the curves that the thesis states as numbers. It states the best weight only for TILDE.
PUBLISHED_POINTS = ("0.0", "1.0", BEST_OF_EACH)


def curves(
    combinations: Mapping[str, Mapping[str, Sweep]], noise: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Points of Figure 2.3, with the noise oracle as a third series."""
    parts = []
    for name, by_task in combinations.items():
        for task, sweep in by_task.items():
            for metric, means in sweep.means().items():
                parts.append(
                    pd.DataFrame(
                        {
                            "combination": name,
                            "task": task,
                            "metric": metric,
                            "alpha": sweep.alphas,
                            "value": means.to_numpy(),
                            "oracle": oracle(sweep, metric)["value"].mean(),
                            "noise": noise[task].loc[metric, "noise_value"],
                        }
                    )
                )
    return pd.concat(parts, ignore_index=True)


def curve_marks(points: pd.DataFrame) -> pd.DataFrame:
    """Points of each curve of the figure, and the levels of both oracles."""
    curve = points.assign(series="curve", x=points["alpha"].map("{:.1f}".format))
    levels = curve.drop_duplicates(CELL).assign(x=BEST_OF_EACH, alpha=None)
    return pd.concat(
        [
            curve,
            levels.assign(series="oracle", value=levels["oracle"]),
            levels.assign(series="noise oracle", value=levels["noise"]),
        ],
        ignore_index=True,
    )


def plotted_cells(marks: pd.DataFrame, first: str, details: Mapping[str, str]) -> pd.DataFrame:
    """Cells of the figure's table: its marks, and the weight that maximises each curve."""
    curve = marks[marks["series"] == "curve"]
    maxima = curve.loc[curve.groupby(CELL, sort=False)["value"].idxmax()]
    plotted = pd.concat(
        [marks, maxima.assign(x="argmax", value=maxima["alpha"])], ignore_index=True
    )
    plotted = plotted.assign(
        combination=first + "+" + plotted["combination"],
        detail=plotted["combination"].map(details),
        series=plotted["series"].map(SERIES),
        x_name="alpha",
    )
    columns = ["combination", "detail", "task", "series", "metric", "x_name", "x", "value"]
    return plotted[columns]


def effective_weights(points: pd.DataFrame, first: str) -> pd.DataFrame:
    """Number of weights at which a combination outperforms both of its systems."""
    rows = []
    for (combination, task, metric), curve in points.groupby(CELL, sort=False):
        is_single = curve["alpha"].isin([0.0, 1.0])
        better = curve.loc[~is_single, "value"] > curve.loc[is_single, "value"].max()
        rows.append((f"{first}+{combination}", task, metric, int(better.sum())))
    return pd.DataFrame(rows, columns=[*CELL, "value"])


def published_cells(plotted: pd.DataFrame, first: str) -> pd.DataFrame:
    """Cells that the thesis states as numbers."""
    best_of_tilde = (plotted["x"] == "argmax") & (plotted["combination"] == f"{first}+TILDE")
    is_noise = plotted["series"] == SERIES["noise oracle"]
    return plotted[(plotted["x"].isin(PUBLISHED_POINTS) | best_of_tilde) & ~is_noise]
