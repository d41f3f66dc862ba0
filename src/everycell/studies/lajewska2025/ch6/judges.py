"""Table 6.7 from labels of nuggets: scores by system and judge, agreement of judges."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pandas as pd

from everycell.collections.ginger import JUDGES, SYSTEMS, NuggetLabels
from everycell.rag.nuggets import (
    judge_agreement,
    lowercase_importance,
    nugget_scores,
    unify_importance,
)
from everycell.studies.lajewska2025.ch6.creating import shared_facts
from everycell.studies.lajewska2025.ch6.nuggets import (
    TEST_DECIMALS,
    add_mean,
    compare_runs,
    mean_scores,
    name_scores,
)

#: Interpretations of importance labels; the published table uses the first.
READINGS = {
    "as spelled": lambda nuggets: nuggets,
    "any spelling": lowercase_importance,
    "one key": unify_importance,
}
AGREEMENT_DECIMALS = {
    "mean difference": 3,
    "mean absolute difference": 3,
    "pearson, responses": 3,
    "tau, responses": 3,
    "tau in a topic": 3,
    "topics": 0,
    "tau, systems": 3,
}


class JudgeTables(NamedTuple):
    """Table 6.7 (`cells`) and its supplementary tables."""

    cells: pd.DataFrame
    agreement: pd.DataFrame
    nuggets: pd.DataFrame
    readings: pd.DataFrame
    rewriting: pd.DataFrame


def judge_tables(labels: NuggetLabels) -> JudgeTables:
    """Table 6.7 and its supplementary tables."""
    scores = {name: name_scores(labels, alter(labels.nuggets)) for name, alter in READINGS.items()}
    published = add_mean(scores["as spelled"])
    by_reading = {name: mean_scores(add_mean(frame)) for name, frame in scores.items()}
    cells = by_reading["as spelled"].rename(columns={"run": "row"})
    cells["metric"] = "V_strict " + cells["judge"]
    agreement = pd.concat(
        judge_agreement(frame).assign(importance=name) for name, frame in scores.items()
    )
    readings = pd.concat(frame.assign(metric=name) for name, frame in by_reading.items())
    rewriting = pd.concat(
        compare_runs(rows, [("GINGER-top5", "GINGER-top5 wo/ rewriting")]).assign(judge=judge)
        for judge, rows in published.groupby("judge", sort=False)
    )
    return JudgeTables(
        cells.loc[cells["row"].isin(SYSTEMS), ["row", "metric", "value"]],
        agreement[["importance", "judges", "metric", "value"]],
        common_nuggets(labels.nuggets),
        readings.rename(columns={"run": "row"})[["judge", "row", "metric", "value"]],
        rewriting.melt("judge", list(TEST_DECIMALS), "metric"),
    )


def released_scores(labels: NuggetLabels) -> pd.DataFrame:
    """Released and reproduced scores, with the number of responses of each pair."""
    scores = nugget_scores(labels.nuggets, labels.responses)
    pairs = scores.merge(labels.responses, on=["judge", "run", "topic"], validate="one_to_one")
    # Equal fractions may differ in the last bit.
    pairs = pairs.round({"released": 9, "value": 9})
    counts = pairs.groupby(["judge", "released", "value"]).size().rename("responses").reset_index()
    parts = [counts[counts["judge"] == judge].assign(judge=name) for name, judge in JUDGES.items()]
    return pd.concat(parts, ignore_index=True)


def common_nuggets(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Share of each judge's nuggets that each other judge also has."""
    lists = nuggets.drop_duplicates(["judge", "topic", "nugget"])
    rows = [
        (f"{name} in {other}", metric, value)
        for name, other in itertools.permutations(JUDGES, 2)
        for metric, value in shared_facts(
            lists[lists["judge"] == JUDGES[other]], lists[lists["judge"] == JUDGES[name]]
        ).items()
        if metric in ("found", "found by chance", "topics")
    ]
    return pd.DataFrame(rows, columns=["nuggets", "metric", "value"])
