"""Oracle and noise-oracle interpolation per topic (Table 2.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.retrieval.interpolation import (
    ALPHAS,
    Scaling,
    Sweep,
    noise_oracle,
    oracle,
    oracle_summary,
)
from everycell.retrieval.judged_lists import JudgedLists
from everycell.retrieval.significance import (
    Comparisons,
    mark_beaten_systems,
    paired_tests,
    system_letters,
)
from everycell.studies.abolghasemi2026.ch2.interpolation import Pairing, tuned_values
from everycell.studies.abolghasemi2026.ch2.quality import mean_with_interval

#: Rows of Table 2.4 -> name in :func:`~everycell.retrieval.interpolation.oracle_summary`.
ORACLE_ROWS: dict[str, str] = {
    "ranking quality": "value",
    "alpha_average": "alpha_mean",
    "n_queries_optimal_alpha_0": "n_alpha_0",
    "n_queries_optimal_alpha_1": "n_alpha_1",
    "IQR_optimal_alpha": "alpha_iqr",
}


def noise_levels(
    lists: JudgedLists,
    first: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
    seeds: Iterable[int] = range(20),
) -> pd.DataFrame:
    """Noise oracle of one system: mean and spread over the seeds."""
    by_seed = noise_oracle(lists, first, measures, alphas=alphas, over=over, seeds=seeds)
    by_measure = by_seed.groupby("measure", sort=False)
    return pd.DataFrame(
        {
            "noise_value": by_measure["value"].mean(),
            "noise_sd": by_measure["value"].std(),
            "noise_gain": by_measure["gain"].mean(),
        }
    ).rename_axis("metric")


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
