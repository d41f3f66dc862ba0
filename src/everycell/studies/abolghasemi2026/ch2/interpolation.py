"""Interpolation of two systems with a weight tuned on validation topics (Table 2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.retrieval.interpolation import ALPHAS, Scaling, Sweep, sweep
from everycell.retrieval.judged_lists import JudgedLists
from everycell.retrieval.significance import Comparisons
from everycell.studies.abolghasemi2026.ch2.quality import quality_table


@dataclass(frozen=True)
class Pairing:
    """Values of two interpolated systems at every weight, by split of one task."""

    validation: Sweep
    test: Sweep


def pairing(
    lists: JudgedLists,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    in_test: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
) -> Pairing:
    """Interpolate two systems separately on the validation and test topics of one task."""
    test_topics = np.asarray(in_test)
    if test_topics.all() or not test_topics.any():
        raise ValueError(
            f"{test_topics.sum()} of {len(test_topics)} topics are test topics; alpha is tuned on "
            "validation topics, so each split needs at least one topic."
        )
    first_scores, second_scores = np.asarray(first), np.asarray(second)
    validation, test = (
        sweep(
            lists.topics(rows),
            first_scores[rows],
            second_scores[rows],
            measures,
            alphas=alphas,
            over=over,
        )
        for rows in (~test_topics, test_topics)
    )
    return Pairing(validation, test)


def tuned_values(
    pairings: Mapping[str, Pairing], tune_for: str | None = None
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Test values of one combination at its best weight on validation topics."""
    values, rows = {}, []
    for task, task_pairing in pairings.items():
        columns = {}
        for metric in task_pairing.test.values:
            alpha = task_pairing.validation.tune(tune_for or metric)
            columns[metric] = task_pairing.test.topic_values(alpha)[metric]
            rows.append({"task": task, "metric": metric, "alpha": alpha})
        values[task] = pd.DataFrame(columns)
    return values, pd.DataFrame(rows)


def interpolation_table(
    singles: Mapping[str, Mapping[str, pd.DataFrame]],
    combinations: Mapping[str, Mapping[str, Pairing]],
    *,
    tune_for: str | None = None,
    comparisons: Comparisons = "all_pairs",
    level: float = 0.05,
) -> pd.DataFrame:
    """Single systems and tuned combinations in one table (Table 2.3)."""
    values = {task: dict(by_system) for task, by_system in singles.items()}
    alphas = []
    for name, pairings in combinations.items():
        tuned, tuned_alphas = tuned_values(pairings, tune_for)
        for task, frame in tuned.items():
            values.setdefault(task, {})[name] = frame
        alphas.append(tuned_alphas.assign(system=name))
    table = quality_table(values, comparisons=comparisons, level=level)
    if not alphas:
        return table.assign(alpha=np.nan)
    return table.merge(pd.concat(alphas), how="left", on=["system", "task", "metric"])


def name_combinations(
    first: str, pairings: Mapping[str, Mapping[str, Pairing]], details: Mapping[str, str]
) -> tuple[dict[str, Mapping[str, Pairing]], dict[str, str]]:
    """Combinations of the first system with every other system, and their details."""
    combinations = {f"{first}+{second_name}": by_task for second_name, by_task in pairings.items()}
    further = {
        f"{first}+{second_name}": f"{details[first]} + {details[second_name]}"
        for second_name in pairings
    }
    return combinations, {**details, **further}
