"""Differences between runs in group fairness, with paired tests against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from everycell.base.errors import DataError, require
from everycell.metrics.term_fairness import MEASURES, FairnessReport
from everycell.statistics.hypothesis_tests import t_tests


def stack_means(reports: Mapping[str, FairnessReport]) -> pd.DataFrame:
    """Stack the means of several runs in one frame."""
    frames = [report.means.assign(run=name) for name, report in reports.items()]
    table = pd.concat(frames, ignore_index=True)
    table.insert(0, "run", table.pop("run"))
    cutoffs = list(frames[0]["k"])
    order = table["k"].map(cutoffs.index)
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def compare_fairness(
    reports: Mapping[str, FairnessReport],
    baseline: str,
    measures: Sequence[str] = MEASURES,
    *,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Test whether runs differ from a baseline in the mean of each fairness measure.

    Paired t-tests over queries with a value in both runs, Holm-corrected over the whole table; d is
    Cohen's d of paired samples. With fewer than two such queries, the statistics are NaN.
    """
    require(baseline in reports, "baseline", baseline, f"a run of {list(reports)}")
    compared_runs = [name for name in reports if name != baseline]
    require(compared_runs, "runs", list(reports), "two or more, with the baseline")
    for measure in measures:
        require(measure in MEASURES, "measure", measure, f"one of {list(MEASURES)}")
    frames = {
        name: report.by_query.set_index(["k", "query"])[list(measures)]
        for name, report in reports.items()
    }
    for name in compared_runs:
        _check_comparable(reports, frames, name, baseline)
    rows = []
    for k in frames[baseline].index.unique("k"):
        for measure in measures:
            for name in compared_runs:
                second = frames[baseline].loc[k, measure]
                first = frames[name].loc[k, measure].reindex(second.index)
                rows.append(
                    {"k": k, "measure": measure, "run": name}
                    | _paired_comparison(first.to_numpy(), second.to_numpy(), confidence)
                )
    table = pd.DataFrame(rows)
    return table.assign(p_holm=_holm(table["p"]))


def _check_comparable(
    reports: Mapping[str, FairnessReport],
    frames: Mapping[str, pd.DataFrame],
    name: str,
    baseline: str,
) -> None:
    """Raise an error if queries, cut-offs or target differ between a run and the baseline."""
    first, second = reports[name], reports[baseline]
    target, other_target = (
        dict(zip(report.groups, report.target, strict=True)) for report in (first, second)
    )
    if target != other_target:
        raise DataError(
            f"run {name!r}",
            column="target",
            value=target,
            expected=f"{other_target}, as for the baseline",
            fix="use the same target for both",
        )
    for run, counterpart in ((name, baseline), (baseline, name)):
        missing = frames[run].index.difference(frames[counterpart].index, sort=False)
        if len(missing):
            k, query = missing[0]
            raise DataError(
                f"run {counterpart!r}",
                f"query {query!r}, cut-off {k}",
                fault=f"has no value, but {run!r} has one (such values: {len(missing)})",
                fix="compare runs with the same queries and cut-offs",
            )


def _paired_comparison(
    first: np.ndarray, second: np.ndarray, confidence: float
) -> dict[str, float | int]:
    """Paired t-test with confidence interval and effect size, over queries with both values."""
    complete = ~(np.isnan(first) | np.isnan(second))
    row: dict[str, float | int] = {"queries": int(complete.sum())}
    if complete.sum() < 2:
        return row | dict.fromkeys(("difference", "low", "high", "d", "t", "p"), np.nan)
    differences = first[complete] - second[complete]
    test = t_tests({"a": first[complete], "b": second[complete]}, correction="none").iloc[0]
    deviation = float(differences.std(ddof=1))
    half_width = stats.t.ppf((1 + confidence) / 2, len(differences) - 1) * deviation
    half_width /= np.sqrt(len(differences))
    mean = float(differences.mean())
    return row | {
        "difference": mean,
        "low": mean - half_width,
        "high": mean + half_width,
        "d": mean / deviation if deviation > 0 else np.nan,
        "t": float(test["t"]),
        "p": float(test["p"]),
    }


def _holm(p: pd.Series) -> pd.Series:
    """Holm's correction over the tests that have a p-value."""
    from statsmodels.stats.multitest import multipletests

    p_values = p.dropna()
    if p_values.empty:
        return p
    corrected = multipletests(p_values, method="holm")[1]
    return pd.Series(corrected, index=p_values.index).reindex(p.index)
