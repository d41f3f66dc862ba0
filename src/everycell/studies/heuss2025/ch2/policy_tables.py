"""Tables 2.2 and 2.3 and their supplementary tables, from measures of policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from everycell.statistics.hypothesis_tests import t_tests
from everycell.studies.heuss2025.ch2.ranked_lists import METRICS

#: Number of a table -> policy -> its row.
ROWS = {
    "2": {
        "FELIX_iter=20": "FELIX_iter=20",
        "FELIX_iter=1": "FELIX_iter=1",
        "PL": "PL@10",
        "PL-random": "PL-random@10",
        "Deterministic": "Deterministic",
        "OMIT": "OMIT@10",
    },
    "3": {
        "FELIX_iter=20": "FELIX_iter=20",
        "FELIX_iter=1": "Vanilla",
        "PL": "PL",
        "PL-random": "PL-random",
        "Deterministic": "Deterministic",
        "OMIT": "OMIT",
    },
}
#: Policies that do not optimise fairness.
UNFAIR = ("PL-random", "Deterministic")
#: Method against which all others are tested.
REFERENCE = "FELIX_iter=20"
#: Metrics of the published tables.
PUBLISHED_METRICS = METRICS[:5]
_KEY = ["row", "dataset", "optimizing_fairness"]


def mean_cells(measures: pd.DataFrame, number: str, metrics: tuple[str, ...]) -> pd.DataFrame:
    """Means over queries, then over training runs."""
    runs = run_cells(measures, number, metrics)
    keys = [column for column in runs if column not in ("run", "value")]
    return runs.groupby(keys, sort=False)["value"].mean().reset_index()


def run_cells(measures: pd.DataFrame, number: str, metrics: tuple[str, ...]) -> pd.DataFrame:
    """Means over queries per training run, with a column ``run``."""
    by_run = measures.groupby(["dataset", "row", "epochs", "run"], sort=False)[list(metrics)].mean()
    cells = by_run.stack().rename("value").reset_index()
    return _with_row_names(cells.rename(columns={"level_4": "metric"}), number)


def select_readings(cells: pd.DataFrame, readings: Sequence[str]) -> pd.DataFrame:
    """Cells for some numbers of epochs (`readings`); with only one, drop the column `epochs`."""
    rows = cells[cells["epochs"].isin(readings)]
    return rows if len(readings) > 1 else rows.drop(columns="epochs")


def significance_cells(measures: pd.DataFrame, number: str) -> pd.DataFrame:
    """t-tests of each policy against FELIX with 20 iterations, over queries.

    The value of a query is its mean over training runs. Queries without a value (EE-L if no
    relevant item is ranked) are left out. Tests are two-tailed and uncorrected; the text does not
    mention a correction.
    """
    by_query = measures.groupby(["dataset", "epochs", "row", "query"], sort=False)[
        list(PUBLISHED_METRICS)
    ].mean()
    rows = []
    for (dataset, epochs), part in by_query.groupby(level=["dataset", "epochs"], sort=False):
        for metric in PUBLISHED_METRICS:
            samples = part[metric].droplevel(["dataset", "epochs"]).unstack("row").dropna()
            for row in samples.columns.drop(REFERENCE):
                for name, p in _p_values(samples, row):
                    rows.append((dataset, row, epochs, metric, name, p))
    columns = ["dataset", "row", "epochs", "metric", "statistic", "value"]
    return _with_row_names(pd.DataFrame(rows, columns=columns), number)


def _p_values(samples: pd.DataFrame, row: str) -> Iterator[tuple[str, float]]:
    # Policies that decompose the same matrix differ only by rounding errors.
    equal = np.allclose(samples[row], samples[REFERENCE], rtol=0, atol=1e-6)
    for paired in (True, False):
        test = t_tests(samples, [(row, REFERENCE)], paired=paired, correction="none")
        yield f"p {'paired' if paired else 'unpaired'}", 1.0 if equal else float(test["p"].iloc[0])


def mark_cells(
    cells: pd.DataFrame, tests: pd.DataFrame, statistic: str, alpha: float
) -> pd.DataFrame:
    """Cells with an asterisk if the p-value of a test is below alpha."""
    key = [*_KEY, "epochs", "metric"]
    significant = tests[(tests["statistic"] == statistic) & (tests["value"] < alpha)][key]
    result = cells.merge(significant.assign(marker="*"), on=key, how="left", validate="one_to_one")
    return result.assign(marker=result["marker"].fillna(""))


def _with_row_names(cells: pd.DataFrame, number: str) -> pd.DataFrame:
    """Cells with the row names and row order of the published table."""
    rows = ROWS[number]
    cells = cells.assign(
        optimizing_fairness=np.where(cells["row"].isin(UNFAIR), "No", "Yes"),
        row=cells["row"].map(rows),
    )
    orders = {
        "dataset": ["TREC20", "TREC19"],
        "row": list(rows.values()),
        "metric": list(METRICS),
    }
    order = cells.assign(
        **{name: pd.Categorical(cells[name], values) for name, values in orders.items()}
    ).sort_values(
        ["dataset", "row", "epochs", "metric"], ascending=[True, True, False, True], kind="stable"
    )
    other_columns = [name for name in cells.columns if name not in _KEY]
    return cells.loc[order.index, [*_KEY, *other_columns]].reset_index(drop=True)
