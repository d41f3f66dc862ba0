"""Implications of the published rows of Table 3.6: counts, changes, growing test sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from everycell.dialogue.satisfaction import Confusion, dissatisfaction_steps, fitting_confusions
from everycell.studies.abolghasemi2026.ch3.few_shot import FEW_SHOT

#: Columns of Table 3.6 by their name in the library.
MEASURES = {"Acc": "accuracy", "P": "precision", "R": "recall", "F1": "f1"}
#: Shares of dissatisfied samples, percent, that both growing test sets reach.
SHARES = (10, 20, 30, 40)
RECALL = "recall of dissatisfaction"

#: Test set -> right and wrong answers.
Counts = Mapping[str, Confusion]


def implied_counts(
    rows: pd.DataFrame, sizes: pd.DataFrame
) -> dict[tuple[str, str, str], dict[str, Confusion]]:
    """Right and wrong answers behind printed rows."""
    numbers = sizes.set_index(["dataset", "collection", "row"])["value"].astype(int)
    matrices: dict[tuple[str, str, str], dict[str, Confusion]] = {}
    keys = ["model", "setup", "dataset", "test_data"]
    for (model, setup, dataset, test_data), cells in rows.groupby(keys, sort=False):
        parts = ["Main", "CF"] if test_data == "Mixed" else [test_data]
        size = [
            int(sum(numbers[dataset, part, row] for part in parts))
            for row in ("Satisfaction", "Dissatisfaction")
        ]
        values = zip(cells["metric"], cells["value"].astype(float), strict=True)
        fits = fitting_confusions({MEASURES[name]: value for name, value in values}, *size)
        if len(fits) != 1:
            raise ValueError(
                f"{model}, {setup}, {dataset}, {test_data}: {len(fits)} confusion matrices fit the "
                "published row, expected one; compare the row with the thesis."
            )
        matrices.setdefault((model, setup, dataset), {})[test_data] = fits[0]
    return matrices


def implied_cells(counts: Mapping[tuple[str, str, str], Counts]) -> pd.DataFrame:
    """What follows from the counts."""
    rows = []
    for names, tests in counts.items():
        for quantity, values in _quantities(names, tests, counts):
            cells = zip(("value", "low", "high"), values, strict=False)
            rows += [(quantity, *names, end, 100 * value) for end, value in cells]
    table = pd.DataFrame(rows, columns=["quantity", "model", "setup", "dataset", "end", "value"])
    order = {name: position for position, name in enumerate(table["quantity"].unique())}
    return table.sort_values("quantity", key=lambda names: names.map(order), kind="stable")


def _quantities(
    names: tuple[str, str, str], tests: Counts, all_counts: Mapping[tuple[str, str, str], Counts]
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Quantities of one row of the table, as shares, with the ends of their intervals."""
    for label, share in (("accuracy", _accuracy), (RECALL, _recall)):
        for test_data, confusion in tests.items():
            right, n = share(confusion)
            ends = proportion_confint(right, n, method="wilson")
            yield f"{label}, {test_data}", (right / n, *ends)
        yield f"{label}, CF less Main", _less(share(tests["CF"]), share(tests["Main"]))
    model, setup, dataset = names
    few_shot_rows = [row for row in all_counts if row[1:] == (FEW_SHOT, dataset)]
    for other in few_shot_rows if setup != FEW_SHOT else ():
        for test_data in tests:
            theirs = _accuracy(all_counts[other][test_data])
            yield (
                f"accuracy, {test_data}, less {other[0]}'s",
                _less(_accuracy(tests[test_data]), theirs),
            )
    grown = _grown(tests["Main"], tests["CF"])
    for label, share in (("accuracy", _accuracy), (RECALL, _recall)):
        at = {percent: share(confusion) for percent, confusion in grown.items()}
        for percent in SHARES:
            yield f"{label} at {percent} percent", (at[percent][0] / at[percent][1],)
        first, last = (at[percent][0] / at[percent][1] for percent in (SHARES[0], SHARES[-1]))
        yield f"{label} at {SHARES[-1]} percent, less at {SHARES[0]}", (last - first,)


def _grown(main: Confusion, cf: Confusion) -> dict[float, Confusion]:
    """Expected counts of Main with as many dissatisfied counterfactuals as make each share."""
    dissatisfied = cf.dissatisfied_right + cf.dissatisfied_wrong
    steps = dissatisfaction_steps(sum(main[:2]), sum(main[2:]), dissatisfied)
    return {
        percent: main._replace(
            # pyrefly: ignore[bad-argument-type]  expected numbers are fractions
            dissatisfied_right=main.dissatisfied_right
            + added * cf.dissatisfied_right / dissatisfied,
            # pyrefly: ignore[bad-argument-type]
            dissatisfied_wrong=main.dissatisfied_wrong
            + added * cf.dissatisfied_wrong / dissatisfied,
        )
        for percent, added in steps
    }


def _accuracy(confusion: Confusion) -> tuple[float, float]:
    return confusion.satisfied_right + confusion.dissatisfied_right, sum(confusion)


def _recall(confusion: Confusion) -> tuple[float, float]:
    return confusion.dissatisfied_right, confusion.dissatisfied_right + confusion.dissatisfied_wrong


def _less(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float, float]:
    """Difference of two shares, with its interval."""
    ends = confint_proportions_2indep(*one, *other, method="newcomb")
    return one[0] / one[1] - other[0] / other[1], *ends
