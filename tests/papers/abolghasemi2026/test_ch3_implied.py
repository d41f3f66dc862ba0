"""Values implied by the published rows of the table of estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from everycell.metrics.satisfaction import Confusion
from everycell.records.cells import read_cells
from papers.abolghasemi2026.ch3 import SHARES, implied_cells, implied_counts
from papers.abolghasemi2026.ch3_predictions import curve_by_dissatisfied_share, measure_confusions


@pytest.fixture(scope="module")
def counts(repository):
    folder = repository / "published/abolghasemi2026"
    rows, sizes = (read_cells(folder / f"table_3_{number}.csv") for number in (6, 5))
    return implied_counts(rows, sizes)


def test_implied_counts_published_rows(counts, repository):
    rows = [
        (*names, test_data, *result)
        for names, tests in counts.items()
        for test_data, result in tests.items()
    ]
    columns = ["model", "setup", "dataset", "test_data", *Confusion._fields]
    table = measure_confusions(pd.DataFrame(rows, columns=columns))
    keys = ["model", "setup", "dataset", "test_data", "metric"]
    published = read_cells(repository / "published/abolghasemi2026/table_3_6.csv").set_index(keys)
    assert len(table) == len(published) == 192
    result = table.set_index(keys)["value"]
    # Two are cut after two decimals.
    off = (result - published["value"].astype(float)).abs()
    assert off.max() < 0.01 and (off > 0.005 + 1e-9).sum() == 2


def test_implied_counts_changed_cell(counts, repository):
    folder = repository / "published/abolghasemi2026"
    rows, sizes = (read_cells(folder / f"table_3_{number}.csv") for number in (6, 5))
    rows.loc[0, "value"] = "93.30"
    with pytest.raises(ValueError, match="BERT, w/o up-sampling, MultiWOZ, Main: 0 confusion"):
        implied_counts(rows, sizes)


def test_implied_cells_mean_over_orders():
    main, cf = Confusion(40, 5, 1, 2), Confusion(1, 0, 12, 20)
    predictions = pd.DataFrame(
        {
            "part": ["main"] * 48 + ["cf"] * 33,
            "id": [*map(str, range(48)), *(f"{number}-cf" for number in range(33))],
            "satisfied": [True] * 45 + [False] * 3 + [True] + [False] * 32,
            "predicted": [True] * 40 + [False] * 6 + [True] * 3 + [False] * 12 + [True] * 20,
            "seed": 0,
        }
    )
    result = curve_by_dissatisfied_share(predictions, orders=3000, seed=0).set_index(
        ["metric", "percent"]
    )["value"]
    table = implied_cells({("Toy", "x1", "toy"): {"Main": main, "CF": cf}})
    message = table.set_index("quantity")["value"]
    for percent in SHARES:
        for label, metric in (("accuracy", "Acc"), ("recall of dissatisfaction",) * 2):
            expected = result[metric, percent]
            assert message[f"{label} at {percent} percent"] == pytest.approx(expected, abs=0.5)


def test_implied_cells_differences(counts):
    table = implied_cells(counts).set_index(["quantity", "model", "setup", "dataset", "end"])
    value = table["value"]
    for names in counts:
        for label in ("accuracy", "recall of dissatisfaction"):
            change = value[(f"{label}, CF less Main", *names, "value")]
            sides = [value[(f"{label}, {part}", *names, "value")] for part in ("CF", "Main")]
            assert change == pytest.approx(np.subtract(*sides))
            ends = [value[(f"{label}, CF less Main", *names, end)] for end in ("low", "high")]
            assert ends[0] <= change <= ends[1]
    for dataset in ("MultiWOZ", "SGD"):
        bert = ("BERT", "w/o up-sampling", dataset, "value")
        zephyr = ("Zephyr", "Few-shot", dataset, "value")
        expected = value[("accuracy, CF", *bert)] - value[("accuracy, CF", *zephyr)]
        assert value[("accuracy, CF, less Zephyr's", *bert)] == pytest.approx(expected)


def test_implied_cells_language_models(counts):
    table = implied_cells(counts)
    compared = table[table["quantity"].str.endswith("'s")]
    assert set(compared["model"]) == {"BERT", "ASAP"}
    assert compared["quantity"].nunique() == 6
    keys = ["quantity", "model", "setup", "dataset", "end"]
    assert not table.duplicated(keys).any()


def test_implied_cells_newcombe_interval():
    """Newcombe (1998), Statistics in Medicine 17: 56/70 - 48/80, method 10: .0524 to .3339."""
    main, cf = Confusion(46, 30, 2, 2), Confusion(8, 2, 48, 12)
    table = implied_cells({("Toy", "x1", "toy"): {"Main": main, "CF": cf}})
    cells = table.set_index(["quantity", "end"])["value"]["accuracy, CF less Main"]
    assert cells[["value", "low", "high"]].tolist() == pytest.approx([20, 5.24, 33.39], abs=5e-3)
    # Wilson's interval of 48/80: (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    cells = table.set_index(["quantity", "end"])["value"]["accuracy, Main"]
    assert cells[["value", "low", "high"]].tolist() == pytest.approx([60, 49.05, 70.04], abs=5e-3)
