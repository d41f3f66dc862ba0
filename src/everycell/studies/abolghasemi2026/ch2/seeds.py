"""Mean and spread of rankers that are trained with several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

#: Task -> row of the table -> values per topic (rows) and measure (columns).
Values = Mapping[str, Mapping[str, pd.DataFrame]]


def runs_by_seed(runs: Mapping[str, Path], seeds: Sequence[int]) -> list[dict[str, Path]]:
    """Run files by training seed: all rows for the first seed, then only the trained rankers.

    Examples
    --------
    >>> runs = {"a": Path("bm25.run"), "e": Path("tilde.{task}.seed-{seed}.run")}
    >>> [list(map(str, files.values())) for files in runs_by_seed(runs, [1, 2])]
    [['bm25.run', 'tilde.{task}.seed-1.run'], ['tilde.{task}.seed-2.run']]
    """
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
    """Mean value per topic over the training runs, so that each topic enters a test once.

    Examples
    --------
    >>> frame = pd.DataFrame({"MAP": [0.2, 0.4]}, index=["q1", "q2"])
    >>> result = mean_over_seeds([{"cite": {"a": frame, "e": frame}}, {"cite": {"e": frame + 0.2}}])
    >>> {row: values["MAP"].round(2).tolist() for row, values in result["cite"].items()}
    {'a': [0.2, 0.4], 'e': [0.3, 0.5]}
    """
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
    """Mean over the topics for each training run, for `summarise_seeds`.

    Examples
    --------
    >>> frame = pd.DataFrame({"MAP": [0.25, 0.5]}, index=["q1", "q2"])
    >>> means_by_seed([{"cite": {"e": frame}}, {"cite": {"e": frame + 0.25}}], ["e"])
      row  task metric  value
    0   e  cite    MAP  0.375
    1   e  cite    MAP  0.625
    """
    cells = [
        (row, task, metric, float(value))
        for values in trainings
        for row in rows
        for task, by_row in values.items()
        for metric, value in by_row[row].mean().items()
    ]
    return pd.DataFrame(cells, columns=["row", "task", "metric", "value"])
