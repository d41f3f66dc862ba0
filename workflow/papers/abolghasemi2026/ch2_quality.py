"""Effectiveness with significance letters (Tables 2.1, 2.2 of chapter 2 of abolghasemi2026).

All tables of the chapter use a long format: one row per cell, with the keys of the row, ``task``,
``metric`` and ``value`` (0 to 1; `published_units` of ``ch2.py`` converts MAP to percent).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from everycell.retrieval.significance import (
    Comparisons,
    mark_beaten_systems,
    paired_tests,
    system_letters,
)
from papers.abolghasemi2026.ch2_ranx import comparison_report

#: Task -> row of the table -> values per topic (rows) and measure (columns).
Values = Mapping[str, Mapping[str, pd.DataFrame]]
#: Format of the report -> heading of a task.
HEADINGS = {"markdown": "## {}\n\n", "latex": "% {}\n"}


def quality_table(
    values: Mapping[str, Mapping[str, pd.DataFrame]],
    *,
    comparisons: Comparisons = "all_pairs",
    level: float = 0.05,
    letters: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Mean of each system on each task, and the letters of the systems that it beats.

    Source: abolghasemi2026, Tables 2.1 to 2.3: paired t-test, p < .05, Bonferroni. The thesis does
    not state the number of comparisons, so `comparisons` sets it.
    """
    systems = list(next(iter(values.values())))
    letters_by_system = system_letters(systems) if letters is None else letters
    rows = [
        row
        for task, by_system in values.items()
        for metric in next(iter(by_system.values())).columns
        for row in _column(task, metric, by_system, letters_by_system, comparisons, level)
    ]
    order = {system: position for position, system in enumerate(systems)}
    table = pd.DataFrame(rows)
    return table.sort_values("system", key=lambda s: s.map(order), kind="stable", ignore_index=True)


def _column(
    task: str,
    metric: str,
    by_system: Mapping[str, pd.DataFrame],
    letters: Mapping[str, str],
    comparisons: Comparisons,
    level: float,
) -> list[dict[str, object]]:
    """Cells of one task and measure."""
    wide = pd.DataFrame({system: frame[metric] for system, frame in by_system.items()})
    beaten, number = dict.fromkeys(wide.columns, ""), 0
    if wide.shape[1] > 1:
        tests = paired_tests(wide, comparisons=comparisons, level=level)
        beaten, number = mark_beaten_systems(tests, letters), int(tests["comparisons"].iloc[0])
    return [
        {
            "row": letters[system],
            "system": system,
            "task": task,
            "metric": metric,
            "value": wide[system].mean(),
            "marker": beaten[system],
            "n": len(wide),
            "comparisons": number,
        }
        for system in wide.columns
    ]


def letters_note(table: pd.DataFrame) -> str:
    """Note for a table title on the significance tests behind the letters."""
    bounds = dict.fromkeys([table["n"].min(), table["n"].max()])
    queries = " to ".join(map(str, bounds))
    number = table["comparisons"].max()
    return f"letters: paired t-test over {queries} queries, Bonferroni for {number} comparisons"


def mean_with_interval(values: pd.Series, seed: int) -> dict[str, float]:
    """Mean over topics with its 95 % percentile bootstrap interval.

    Values are rounded to 12 decimals first, because measures of two equal rankings may differ in
    their last bits.
    """
    if len(values) < 2 or values.isna().any():
        raise ValueError(
            f"{values.count()} of {len(values)} topics have a value; an interval needs at least "
            "two topics and a value for each."
        )
    values = values.round(12)
    interval = stats.bootstrap(
        (values.to_numpy(),), np.mean, n_resamples=2000, method="percentile", rng=seed
    ).confidence_interval
    return {"value": values.mean(), "low": interval.low, "high": interval.high}


def short_and_long(
    values: Mapping[str, Mapping[str, pd.DataFrame]], kinds: Mapping[str, str], seed: int
) -> pd.DataFrame:
    """Mean nDCG of each system on each kind of query, and its gain over the first system."""
    systems = list(values[next(iter(kinds))])
    tasks: dict[str, list[str]] = {}
    for task, kind in kinds.items():
        tasks.setdefault(kind, []).append(task)
    rows = []
    for kind, tasks_of_kind in tasks.items():
        pooled = {
            system: pd.concat([values[task][system]["nDCG"] for task in tasks_of_kind])
            .groupby(level=0)
            .mean()
            for system in systems
        }
        for system, ndcg in pooled.items():
            measures = {
                "nDCG": ndcg,
                f"nDCG minus that of {systems[0]}": ndcg - pooled[systems[0]],
            }
            for measure, by_topic in measures.items():
                cell = {"system": system, "queries": kind, "measure": measure}
                rows.append(cell | mean_with_interval(by_topic, seed))
    return pd.DataFrame(rows)


def expansion_means(new_terms: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Mean number of new terms found for a document, and of terms added to it."""
    means = {m: frame[["found", "added"]].mean() for m, frame in new_terms.items()}
    table = pd.DataFrame(means).rename_axis("metric").reset_index()
    return table.melt(id_vars="metric", var_name="m")[["m", "metric", "value"]]


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


def task_reports(
    ranked: Mapping[str, tuple[Mapping[str, pd.DataFrame], pd.DataFrame]],
    names: Mapping[str, str],
    measures: Sequence[str],
    level: float,
) -> dict[str, str]:
    """Reports of all tasks, one below the other, in each format."""
    reports = {}
    for task, (runs, qrels) in ranked.items():
        runs_by_name = {names[row].replace(",", ""): run for row, run in runs.items()}
        reports[task] = comparison_report(runs_by_name, qrels, measures, level=level)
    return {
        form: "\n\n".join(
            heading.format(task) + getattr(report, form) for task, report in reports.items()
        )
        + "\n"
        for form, heading in HEADINGS.items()
    }
