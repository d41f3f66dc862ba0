"""Combinations of two systems in chapter 2 of abolghasemi2026: tuned, oracle or random weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from everycell.retrieval.interpolation import Sweep, oracle, oracle_summary
from everycell.retrieval.significance import (
    Comparisons,
    mark_beaten_systems,
    paired_tests,
    system_letters,
)
from papers.abolghasemi2026.ch2_quality import mean_with_interval, quality_table
from papers.abolghasemi2026.ch2_runs import Pairing

#: Rows of Table 2.4 -> name in :func:`~everycell.retrieval.interpolation.oracle_summary`.
ORACLE_ROWS: dict[str, str] = {
    "ranking quality": "value",
    "alpha_average": "alpha_mean",
    "n_queries_optimal_alpha_0": "n_alpha_0",
    "n_queries_optimal_alpha_1": "n_alpha_1",
    "IQR_optimal_alpha": "alpha_iqr",
}
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


def oracle_table(
    combinations: Mapping[str, Mapping[str, Sweep]],
    singles: Mapping[str, Mapping[str, pd.DataFrame]],
    noise: Mapping[str, pd.DataFrame],
    *,
    comparisons: Comparisons | None = None,
    level: float = 0.05,
    letters: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Rows of Table 2.4 from the best weight of each test topic, with the noise oracle.

    Topics whose best weight is 0 or 1 are reported as counts. The oracle chooses weights by the
    same values that are tested, so its letters mean little: compare ``value`` with
    ``noise_value``.
    """
    rows = []
    for name, by_task in combinations.items():
        for task, sweep in by_task.items():
            for metric in sweep.values:
                best = oracle(sweep, metric)
                single_values = {system: frame[metric] for system, frame in singles[task].items()}
                wide = pd.DataFrame({"": best["value"], **single_values})
                number = len(singles[task]) if comparisons is None else comparisons
                tests = paired_tests(
                    wide,
                    [("", system) for system in singles[task]],
                    comparisons=number,
                    level=level,
                )
                all_letters = {**(letters or system_letters(list(singles[task]))), "": ""}
                rows += _oracle_rows(
                    {"combination": name, "task": task, "metric": metric},
                    oracle_summary(best),
                    mark_beaten_systems(tests, all_letters)[""],
                    int(tests["comparisons"].iloc[0]),
                    noise[task].loc[metric],
                )
    table = pd.DataFrame(rows)
    order = {row: position for position, row in enumerate(ORACLE_ROWS)}
    names = {name: position for position, name in enumerate(combinations)}
    positions = [table["combination"].map(names), table["row"].map(order)]
    return table.iloc[np.lexsort(positions[::-1])].reset_index(drop=True)


def _oracle_rows(
    cell: Mapping[str, str],
    summary: pd.Series,
    marker: str,
    comparisons: int,
    noise: pd.Series,
) -> list[dict[str, object]]:
    quality = {"marker": marker, "comparisons": comparisons, **noise}
    return [
        {
            "row": row,
            **cell,
            "value": summary[name],
            "n": int(summary["n"]),
            **(quality if name == "value" else {"marker": "", "comparisons": 0}),
        }
        for row, name in ORACLE_ROWS.items()
    ]


def add_control(table: pd.DataFrame, first: str) -> pd.DataFrame:
    """Add the noise oracle of the first system as another combination."""
    quality = table[table["row"] == "ranking quality"].drop_duplicates(["task", "metric"])
    control = quality.assign(
        combination=f"{first}+oracle noise", value=quality["noise_value"], marker=""
    )
    return pd.concat([table, control], ignore_index=True)


def round_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Convert numbers of queries to integers, so that they are written without decimals."""
    counts = table["row"].str.startswith("n_")
    values = table["value"]
    return table.assign(value=values.astype(object).mask(counts, values.astype(int)))


def gain_marks(
    first: str,
    pairings: Mapping[str, Mapping[str, Pairing]],
    singles: Mapping[str, Mapping[str, pd.DataFrame]],
    noise: Mapping[str, pd.DataFrame],
    seed: int,
) -> pd.DataFrame:
    """Gain from a second system: with the tuned weight, with oracle weights, and from noise."""
    marks = []
    for second_name, by_task in pairings.items():
        tuned, _ = tuned_values(by_task)
        for task, task_pairing in by_task.items():
            for metric in task_pairing.test.values:
                cell = {"combination": f"{first} + {second_name}", "task": task, "metric": metric}
                single_values = singles[task][first][metric]
                gains = {
                    "tuned": tuned[task][metric] - single_values,
                    "oracle": oracle(task_pairing.test, metric)["value"] - single_values,
                }
                for series, gain in gains.items():
                    marks.append(cell | {"series": series} | mean_with_interval(gain, seed))
                gain, spread = noise[task].loc[metric, ["noise_gain", "noise_sd"]]
                bounds = {"low": gain - 2 * spread, "high": gain + 2 * spread}
                marks.append(cell | {"series": "noise oracle", "value": gain} | bounds)
    return pd.DataFrame(marks)


def curves_by_weight(
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
