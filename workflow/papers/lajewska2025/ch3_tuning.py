"""Parameters of BM25 in chapter 3 of lajewska2025, on the grids on which they are tuned.

Source: lajewska2025, section 3.3.2 (p. 43): the parameters are the mean of the best ones of 2020
and 2021, by the recall of manually rewritten questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from papers.lajewska2025.ch3_pipeline import mean_of_best

MEAN = "mean of the best"


def read_grid(path: Path) -> pd.DataFrame:
    """Read a grid with the columns `b`, `k1` and `recall`, the best point first.

    The authors' files are separated by tabs; ours are CSV.
    """
    grid = pd.read_csv(path, sep=r"[\t,]", engine="python")
    return grid.rename(columns={"recall_1000": "recall"})[["b", "k1", "recall"]]


def nearest_recall(grid: pd.DataFrame, b: float, k1: float) -> float:
    """Mean recall of the points of a grid that are nearest to these parameters."""
    for column, value in (("b", b), ("k1", k1)):
        distance = (grid[column] - value).abs().round(6)
        grid = grid[distance == distance.min()]
    return float(grid["recall"].mean())


def tuned_points(
    grids: Mapping[str, pd.DataFrame], parameters: Mapping[str, Mapping[str, float]]
) -> pd.DataFrame:
    """Best points of each year's grid, and recall near their mean and near other parameters."""
    common = {MEAN: mean_of_best(grids.values()), **parameters}
    rows = []
    for year, grid in grids.items():
        best = grid[grid["recall"] == grid["recall"].max()]
        points = {f"best, {number}": row for number, row in enumerate(best.to_dict("records"), 1)}
        points |= {
            name: {"b": p["b"], "k1": p["k1"], "recall": nearest_recall(grid, p["b"], p["k1"])}
            for name, p in common.items()
        }
        rows += [
            (year, point, metric, value)
            for point, values in points.items()
            for metric, value in values.items()
        ]
    return pd.DataFrame(rows, columns=["cast_year", "point", "metric", "value"])
