"""Published cells as text and numbers, and their spread over seeds."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from unit.toy_papers import CELLS, write_paper

from everycell.records.cells import (
    RecordError,
    Spread,
    count_decimals,
    describe_spread,
    is_number,
    plain_minus,
    read_cells,
    read_spreads,
    select_any,
    summarise_seeds,
    tolerance_of,
)
from everycell.records.papers import find_artefact, load_papers


def test_read_cells_none_and_dashes(tmp_path):
    cells = CELLS.replace("a,", "None,").replace("b,", "-,").replace("0.30", "NA")
    artefact = find_artefact(load_papers(write_paper(tmp_path, cells=cells)), "toy/table_1")
    assert artefact.cells["row"].tolist() == ["None", "None", "-", "-"]
    assert artefact.cells["value"].iloc[0] == "NA"


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0.30", 2), ("12", 0), ("12.", 0), (".5", 1), ("-1.50", 2), ("2.5e-5", 6), ("1E3", 0)],
)
def test_count_decimals(text, digits):
    assert is_number(text) and count_decimals(text) == digits


@pytest.mark.parametrize(
    "text", ["", "-", "1,000", "132_1", "nan", "inf", "1e999", "-1e999", "1 2", "5%"]
)
def test_is_number_of_other_text(text):
    assert not is_number(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u22120.5", "-0.5"),
        ("\u2013.5", "-.5"),
        *((text, text) for text in ("–", "1–4", "a−1", "−x", "−")),
    ],
)
def test_plain_minus(text, expected):
    assert plain_minus(text) == expected


def test_select_any_in_the_order_of_the_table():
    table = pd.DataFrame({"row": ["a", "b", "c"], "value": ["1", "2", "3"]})
    rows = select_any(table, [{"row": "c"}, {"row": ["a", "c"]}], where="toy")
    assert rows["value"].tolist() == ["1", "3"]
    assert select_any(table, [], where="toy").empty


# Spread over seeds


def spread_of(values: list[float]) -> Spread:
    cells = pd.DataFrame({"row": "a", "value": values})
    return read_spreads(summarise_seeds(cells, ["row"]), ["row"], where="toy")[("a",)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # t(2) = 4.302653, s = 0.02, sqrt(4/3) = 1.154701.
        ([0.70, 0.72, 0.74], 0.099363),
        # A training without a number does not count.
        ([0.70, 0.72, math.nan, 0.74], 0.099363),
        # t(4) = 2.776445, s = sqrt(2.5) = 1.581139, sqrt(6/5) = 1.095445.
        ([1, 2, 3, 4, 5], 4.808945),
        ([3, 3, 3], 0),
    ],
)
def test_tolerance_of_by_hand(values, expected):
    assert tolerance_of(spread_of(values)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("n", [3, 4, 5, 12])
def test_tolerance_of_equals_scipy(n):
    values = np.random.default_rng(n).normal(size=n)
    scale = values.std(ddof=1) * math.sqrt(1 + 1 / n)
    expected = stats.t.interval(0.95, n - 1, loc=values.mean(), scale=scale)
    spread = spread_of(list(values))
    half = tolerance_of(spread)
    assert (spread.mean - half, spread.mean + half) == pytest.approx(expected)


@pytest.mark.parametrize(("runs", "mean_of"), [(3, 1), (5, 5)])
def test_tolerance_of_covers_further_training_runs(runs, mean_of):
    draws = np.random.default_rng(20).normal(size=(4000, runs + mean_of))
    hits = [
        abs(row[runs:].mean() - row[:runs].mean())
        <= tolerance_of(Spread(0, row[:runs].std(ddof=1), 0, 0, runs), mean_of)
        for row in draws
    ]
    # Three standard errors of a share of 95 % among 4000.
    assert np.mean(hits) == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 4000))


@pytest.mark.parametrize("n", [1, 2])
def test_tolerance_of_few_training_runs(n):
    spread = spread_of([0.5, 0.9][:n])
    assert tolerance_of(spread) is None and "requires at least 3" in describe_spread(spread, 2)
    assert math.isnan(spread.deviation) == (n == 1)


def test_read_spreads_incomplete_table():
    table = summarise_seeds(pd.DataFrame({"row": ["a"] * 3, "value": [1, 2, 3]}), ["row"])
    with pytest.raises(RecordError, match="lacks the column 'statistic'"):
        read_spreads(table.drop(columns="statistic"), ["row"], where="toy")
    with pytest.raises(RecordError, match="for the cell a"):
        read_spreads(table[table["statistic"] != "seeds"], ["row"], where="toy")


def test_read_spreads_from_a_file(tmp_path):
    cells = pd.DataFrame({"row": ["", ""] * 2, "value": [0.1, 0.2, 0.30001, 0.4]})
    table = summarise_seeds(cells, ["row"])
    table.to_csv(tmp_path / "t.csv", index=False)
    read = pd.read_csv(tmp_path / "t.csv", dtype=str, keep_default_na=False)
    assert read_spreads(read, ["row"], where="toy") == read_spreads(table, ["row"], where="toy")


@pytest.mark.fault("bomb")
@pytest.mark.parametrize("columns", [51, 200_000])
@pytest.mark.parametrize("row", ["1\n", "1,2\n"])
def test_read_cells_short_rows(tmp_path, columns, row):
    """Rows of a few bytes must not become as long as a long header."""
    path = tmp_path / "table_1.csv"
    path.write_text("value" + ",a" * (columns - 1) + "\n" + row * 100_000)
    with pytest.raises(RecordError, match=f"line 1 has {columns:,} columns"):
        read_cells(path)
