"""Chapter 2 of heuss2025: fair exposure when exposure is partly unknown (FELIX).

Tables of the released lists, and Tables 2.2 and 2.3 from measures of policies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.records.cells import SEEDS, summarise_seeds
from everycell.statistics.hypothesis_tests import t_tests
from papers.heuss2025.ch2_policies import METRICS
from papers.heuss2025.data import (
    DATASETS,
    FILES,
    keep_long_lists,
    read_fair_lists,
    select_test_lists,
)

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
_KEY = ["row", "dataset", "optimizing_fairness"]
#: Numbers of lists in section 2.5.
STATED = [
    ("TREC2020", "train", "lists"),
    ("TREC2020", "test", "lists"),
    ("TREC2020", "test", "20 items or more"),
    ("TREC2019", "train", "lists"),
    ("TREC2019", "test", "lists"),
    ("TREC2019", "test", "more than 20 items"),
    ("TREC2019", "test", "10 items or more"),
]


def released_lists(job: ResultJob) -> dict[tuple[str, str], pd.DataFrame]:
    """Lists of each input, by data set and part."""
    return {key: read_fair_lists(job.input["_".join(key)]) for key in FILES}


def lists(job: ResultJob) -> None:
    """Table 2.1: list sizes and relevant items; a supplement counts the lists by size."""
    parts = released_lists(job)
    job.write_table(list_statistics(parts))
    decimals = {
        "all": 0,
        "share below 40 items": 3,
        "relevant items per list of 20 items or more": 2,
    }
    job.write_supplement(count_lists_by_size(parts), "lists", decimals)


def list_numbers(job: ResultJob) -> None:
    """Section 2.5: numbers of lists stated in the text."""
    numbers = count_lists_by_size(released_lists(job)).set_index(["dataset", "split", "metric"])
    job.write_table(numbers.loc[STATED].reset_index())


def list_statistics(parts: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Mean list size and mean number of relevant items, before and after pre-processing.

    Pre-processing drops short test lists. Training lists without relevant items are counted,
    although no ranker can be trained on them.
    """
    rows = []
    for (dataset, split), lists in parts.items():
        for version, version_lists in (
            ("original", lists),
            ("preprocessed", lists if split == "train" else select_test_lists(lists, dataset)),
        ):
            key = (DATASETS[dataset], split, version)
            by_query = version_lists.groupby("query")["relevance"]
            rows.append((*key, "avg_list_size", by_query.size().mean()))
            rows.append((*key, "avg_relevant_items_per_list", by_query.sum().mean()))
    return pd.DataFrame(rows, columns=["dataset", "split", "version", "metric", "value"])


def count_lists_by_size(parts: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Numbers of lists by their size, and the relevant items of long ones."""
    rows = []
    for (dataset, split), lists in parts.items():
        sizes = lists.groupby("query").size()
        counts = {
            "lists": len(sizes),
            "10 items or more": (sizes >= 10).sum(),
            "20 items or more": (sizes >= 20).sum(),
            "more than 20 items": (sizes > 20).sum(),
            "share below 40 items": (sizes < 40).mean(),
        }
        if counts["20 items or more"]:
            relevant = keep_long_lists(lists, 20).groupby("query")["relevance"].sum().mean()
            counts["relevant items per list of 20 items or more"] = relevant
        rows += [(DATASETS[dataset], split, name, float(value)) for name, value in counts.items()]
    return pd.DataFrame(rows, columns=["dataset", "split", "metric", "value"])


def tables(job: ResultJob) -> None:
    """Tables 2.2 and 2.3: policies for the top ten ranks and for full rankings."""
    params, number = job.params, job.wildcards.number
    measures = pd.concat(map(pd.read_parquet, job.input), ignore_index=True)
    tests = significance_cells(measures, number)
    values = mean_cells(measures, number)
    paired = mark_cells(values, tests, "p paired", params.alpha)
    job.write_table(select_readings(paired, params.readings))
    unpaired = mark_cells(values, tests, "p unpaired", params.alpha)
    job.write_supplement(unpaired, "epochs", {"all": 3, "EE-L": 2})
    job.write_supplement(tests, "tests", {"all": 4})
    runs = select_readings(run_cells(measures, number), params.readings)
    keys = [column for column in runs if column not in ("run", "value")]
    job.write_supplement(summarise_seeds(runs, keys), SEEDS, {"all": 4})


def mean_cells(measures: pd.DataFrame, number: str) -> pd.DataFrame:
    """Means over queries, then over training runs."""
    runs = run_cells(measures, number)
    keys = [column for column in runs if column not in ("run", "value")]
    return runs.groupby(keys, sort=False)["value"].mean().reset_index()


def run_cells(measures: pd.DataFrame, number: str) -> pd.DataFrame:
    """Means over queries per training run, with a column ``run``."""
    by_run = measures.groupby(["dataset", "row", "epochs", "run"], sort=False)[list(METRICS)].mean()
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
        list(METRICS)
    ].mean()
    rows = []
    for (dataset, epochs), part in by_query.groupby(level=["dataset", "epochs"], sort=False):
        for metric in METRICS:
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
