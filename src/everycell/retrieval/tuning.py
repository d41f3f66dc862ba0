"""Grid search for the parameters of a ranker on validation lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import pandas as pd

from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.judged_lists import judge


def search_grid(
    rank: Callable[..., pd.DataFrame],
    grid: Mapping[str, Sequence[float]],
    lists: Mapping[str, pd.DataFrame],
    measure: str = "nDCG",
) -> tuple[dict[str, float], pd.DataFrame]:
    """Try every combination of parameters, and choose the best one."""
    points = [dict(zip(grid, point, strict=True)) for point in product(*grid.values())]
    if not (grid and points and lists):
        raise ValueError(
            f"The grid has {len(points) if grid else 0} combinations and there are {len(lists)} "
            "tasks: give at least one of each."
        )
    judged = {task: judge(qrels, qrels) for task, qrels in lists.items()}
    means = []
    for point in points:
        run = rank(**point)
        values = []
        for task, qrels in lists.items():
            ranked = judged[task].run(judged[task].scores(run, outside="drop"))
            values.append(evaluate(ranked, qrels, [measure])[measure].mean())
        means.append(sum(values) / len(values))
    # If several are equally good, max returns the first.
    best = max(range(len(points)), key=means.__getitem__)
    return points[best], pd.DataFrame(points).assign(**{measure: means})
