"""Scores and tests that several tables of chapter 6 of lajewska2025 share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from scipy import stats

from everycell.rag.nuggets import nugget_scores
from everycell.retrieval.significance import compare_paired_and_unpaired
from papers.lajewska2025.ch6_labels import JUDGES, PARTS, SYSTEMS, NuggetLabels

#: Name of the mean of the judges in Tables 6.7 and 6.8.
MEAN = "avg LLM"
#: Run -> its name in Table 6.7, or in Table 6.8 if only that table has it.
NAMES = {run: f"GINGER-top20, {' + '.join(parts)}" for parts, run in PARTS.items()} | {
    run: system for system, run in SYSTEMS.items()
}
TEST_DECIMALS = {
    "difference": 3,
    "p_paired": 4,
    "p_unpaired": 4,
    "p_paired_corrected": 4,
    "p_unpaired_corrected": 4,
}


def name_scores(
    labels: NuggetLabels, nuggets: pd.DataFrame, measure: str = "V_strict"
) -> pd.DataFrame:
    """Score of each response by each judge, with the published names of judges and systems."""
    unknown = set(labels.responses["run"]) - set(NAMES)
    if unknown:
        raise ValueError(
            f"The labels have the run {min(unknown)!r}, expected only runs of Tables 6.7 and 6.8 "
            f"({', '.join(NAMES)}). Remove the run."
        )
    scores = nugget_scores(nuggets, labels.responses, measure)
    published_names = {judge: name for name, judge in JUDGES.items()}
    scores = scores.assign(judge=scores["judge"].map(published_names), run=scores["run"].map(NAMES))
    order = list(dict.fromkeys([*JUDGES, *SYSTEMS, *NAMES.values()]))
    return scores.sort_values(
        ["judge", "run"], key=lambda names: names.map(order.index), kind="stable"
    )


def add_mean(scores: pd.DataFrame) -> pd.DataFrame:
    """Append the mean of the judges for each response, as one more judge."""
    mean = scores.groupby(["run", "topic"], sort=False, as_index=False)["value"].mean()
    return pd.concat([scores, mean.assign(judge=MEAN)], ignore_index=True)


def mean_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean over topics per judge and run."""
    return scores.groupby(["judge", "run"], sort=False, as_index=False)["value"].mean()


def compare_runs(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Differences a - b of pairs of runs of one judge, with two t-tests (Bonferroni over pairs).

    The thesis does not specify its test; both runs have the same topics, so a paired test fits.
    """
    values = scores.pivot(index="topic", columns="run", values="value")
    tests = compare_paired_and_unpaired(values, pairs)
    return tests.assign(difference=tests["mean_a"] - tests["mean_b"])


def change_effects(scores: pd.DataFrame, pairs: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Effect of each change on the mean of a judge, with 95 % intervals over topics."""
    values = scores.pivot(index="topic", columns="run", values="value")
    rows = []
    for name, (run, baseline) in pairs.items():
        test = stats.ttest_rel(values[run], values[baseline])
        interval = test.confidence_interval(0.95)
        difference = (values[run] - values[baseline]).mean()
        numbers = (difference, interval.low, interval.high, test.pvalue)
        rows += [
            (name, metric, float(value))
            for metric, value in zip(("difference", "low", "high", "p"), numbers, strict=True)
        ]
    return pd.DataFrame(rows, columns=["change", "metric", "value"])
