"""Mean and spread of rankers that are trained with several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

#: Task -> row of the table -> values per topic (rows) and measure (columns).
Values = Mapping[str, Mapping[str, pd.DataFrame]]


def runs_by_seed(runs: Mapping[str, Path], seeds: Sequence[int]) -> list[dict[str, Path]]:
    """Run files by training seed: all rows for the first, trained rankers for others."""
    if not seeds:
        return [dict(runs)]
    return [
        {
            row: Path(str(run).replace("{seed}", str(seed)))
            for row, run in runs.items()
            if seed == seeds[0] or "{seed}" in str(run)
        }
        for seed in seeds
    ]


def mean_over_seeds(trainings: Sequence[Values]) -> dict[str, dict[str, pd.DataFrame]]:
    """Mean value per topic over training runs, so that a topic enters a test once."""
    first, *other_trainings = trainings
    means: dict[str, dict[str, pd.DataFrame]] = {}
    for task, rows in first.items():
        means[task] = {}
        for row, values in rows.items():
            repetitions = [
                training[task][row] for training in other_trainings if row in training[task]
            ]
            means[task][row] = sum(repetitions, values) / (1 + len(repetitions))
    return means


def means_by_seed(trainings: Sequence[Values], rows: Sequence[str]) -> pd.DataFrame:
    """Mean over the topics for each training run, for `summarise_seeds`."""
    cells = [
        (row, task, metric, float(value))
        for values in trainings
        for row in rows
        for task, by_row in values.items()
        for metric, value in by_row[row].mean().items()
    ]
    return pd.DataFrame(cells, columns=["row", "task", "metric", "value"])
