"""Quantities implied by the published rows of Table 3.6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from everycell.dialogue.satisfaction import Confusion, dissatisfaction_steps, fitting_confusions
from everycell.studies.abolghasemi2026.ch3.few_shot import FEW_SHOT

#: Columns of Table 3.6 -> their names in the library.
MEASURES = {"Acc": "accuracy", "P": "precision", "R": "recall", "F1": "f1"}
#: Shares of dissatisfied samples, in percent, that both growing test sets reach.
SHARES = (10, 20, 30, 40)
RECALL = "recall of dissatisfaction"

#: Test set -> correct and wrong answers.
Counts = Mapping[str, Confusion]


def implied_counts(
    rows: pd.DataFrame, sizes: pd.DataFrame
) -> dict[tuple[str, str, str], dict[str, Confusion]]:
    """Correct and wrong answers implied by published rows."""
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
                "published row, expected exactly one. Compare the row with the thesis."
            )
        matrices.setdefault((model, setup, dataset), {})[test_data] = fits[0]
    return matrices


def implied_cells(counts: Mapping[tuple[str, str, str], Counts]) -> pd.DataFrame:
    """Cells of the table of quantities that the counts imply."""
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
    """Quantities of one row of the table, as shares, with the bounds of their intervals."""
    for label, share in (("accuracy", _accuracy), (RECALL, _recall)):
        for test_data, confusion in tests.items():
            right, n = share(confusion)
            bounds = proportion_confint(right, n, method="wilson")
            yield f"{label}, {test_data}", (right / n, *bounds)
        yield f"{label}, CF less Main", _difference(share(tests["CF"]), share(tests["Main"]))
    model, setup, dataset = names
    few_shot_rows = [row for row in all_counts if row[1:] == (FEW_SHOT, dataset)]
    for row in few_shot_rows if setup != FEW_SHOT else ():
        for test_data in tests:
            few_shot_accuracy = _accuracy(all_counts[row][test_data])
            yield (
                f"accuracy, {test_data}, less {row[0]}'s",
                _difference(_accuracy(tests[test_data]), few_shot_accuracy),
            )
    confusions = _grow_test_set(tests["Main"], tests["CF"])
    for label, share in (("accuracy", _accuracy), (RECALL, _recall)):
        values = {}
        for percent in SHARES:
            right, n = share(confusions[percent])
            values[percent] = right / n
            yield f"{label} at {percent} percent", (values[percent],)
        change = values[SHARES[-1]] - values[SHARES[0]]
        yield f"{label} at {SHARES[-1]} percent, less at {SHARES[0]}", (change,)


def _grow_test_set(main: Confusion, cf: Confusion) -> dict[float, Confusion]:
    """Expected counts of Main with added counterfactuals, by share of dissatisfaction."""
    dissatisfied = cf.dissatisfied_right + cf.dissatisfied_wrong
    steps = dissatisfaction_steps(sum(main[:2]), sum(main[2:]), dissatisfied)
    return {
        percent: main._replace(
            # pyrefly: ignore[bad-argument-type]  expected counts are fractions
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


def _difference(
    first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float, float]:
    """Difference of two shares (count and total), with its interval."""
    bounds = confint_proportions_2indep(*first, *second, method="newcomb")
    return first[0] / first[1] - second[0] / second[1], *bounds
