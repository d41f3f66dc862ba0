"""Values that tables of attribution quality determine: published tables and simulated answers."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from everycell.metrics.attribution import cab
from everycell.records.cells import read_cells
from papers.abolghasemi2026 import ch5_published as published_tests
from papers.abolghasemi2026.ch5_arms import (
    CITED,
    CONDITION_COLUMNS,
    PRECISION,
    RECALL,
    displayed_author,
)
from papers.abolghasemi2026.ch5_published import (
    bias_cells,
    bias_significance,
    counts_from_recalls,
    mark_bias,
    queries_behind,
    recalls_from_counts,
    sensitivity_significance,
    significance,
)

PUBLISHED = Path(__file__).parents[3] / "published" / "abolghasemi2026"
KEYS = [*CONDITION_COLUMNS, "metric"]


def published_tables(*names):
    return pd.concat([read_cells(PUBLISHED / f"{name}.csv") for name in names], ignore_index=True)


QUALITY = published_tables("table_5_1", "table_5_11")
MIXED = pd.concat(
    [
        published_tables("table_5_14", "table_5_15"),
        published_tables("table_5_4").query("generator == 'GPT-4'"),
    ],
    ignore_index=True,
)


@pytest.mark.parametrize(
    ("quality", "table", "settings"), [(QUALITY, "table_5_3", 24), (MIXED, "table_5_5", 22)]
)
def test_bias_cells_published_bias(quality, table, settings):
    both = bias_cells(quality).merge(published_tables(table), on=KEYS, suffixes=("", "_printed"))
    assert len(both) == settings
    off = (both["value"] - both["value_printed"].astype(float)).abs()
    assert off.max() < 0.1 + 1e-9
    # A recall is a whole number of 500 queries: nothing is lost by rounding.
    assert off[both["metric"].str.endswith("recall")].max() < 1e-9


def simulated(seed, n=40):
    """Answers to n queries, their quality as a table, and both recalls of each setting."""
    draw = np.random.default_rng(seed)
    rows, answers = [], {}
    for author, mode in itertools.product(("Human", "LLM"), ("Vanilla", "Informed", "CF-informed")):
        recalls = draw.integers(0, 2, n).astype(float)
        answers[author, mode] = recalls
        other = {"Human": "LLM", "LLM": "Human"}[author]
        rows.append(("toy", "toy", author, other, mode, RECALL, 100 * recalls.mean()))
    return pd.DataFrame(rows, columns=[*CONDITION_COLUMNS, "rag_mode", "metric", "value"]), answers


@pytest.mark.parametrize("seed", range(3))
def test_bias_cells_mean_of_biases(seed):
    quality, answers = simulated(seed)
    result = bias_cells(quality).set_index("relevant_author")["value"]
    for author, other in (("Human", "LLM"), ("LLM", "Human")):
        informed, false = answers[author, "Informed"], answers[author, "CF-informed"]
        value = cab(informed, false, relevant=author, nonrelevant=other)
        assert result[author] == pytest.approx(100 * value)


def test_bias_cells_order_of_rows():
    shuffled = QUALITY.sample(frac=1, random_state=1)
    one, other = (bias_cells(table).set_index(KEYS)["value"] for table in (QUALITY, shuffled))
    pd.testing.assert_series_equal(one.sort_index(), other.sort_index())


def test_bias_significance_missing_counterpart():
    part = QUALITY[QUALITY["rag_mode"] != "CF-informed"]
    assert bias_cells(part).empty
    assert bias_significance(part, 500).empty


def test_sensitivity_significance_published_markers():
    table = published_tables("table_5_2")
    result = sensitivity_significance(QUALITY, table, 500)
    assert result[KEYS].values.tolist() == table[KEYS].values.tolist()
    recalls = result["metric"].str.endswith("recall")
    assert set(result.loc[recalls, "significant"]) == {"yes", "no"}
    marked = table["marker"] == "†"
    assert (result["significant"][recalls] == marked[recalls].map({True: "yes", False: "no"})).all()
    assert result.loc[~recalls & marked, "significant"].eq("yes").all()
    assert result.loc[~recalls & ~marked, "significant"].eq("open").all()


@pytest.mark.parametrize("seed", range(5))
def test_significance_determined_by_recalls(seed):
    draw = np.random.default_rng(seed)
    first, second = draw.integers(0, 2, (2, 200))
    result = significance(
        100 * first.mean(),
        100 * second.mean(),
        200,
        metric="recall",
        absolute=100 * np.abs(first - second).mean(),
    )
    peer = stats.ttest_rel(first, second).pvalue
    assert result.p == pytest.approx(peer)
    assert result.significant == ("yes" if peer <= 0.05 else "no")


@pytest.mark.parametrize("more", [0, 1, 3, 4, 5, 6, 17])
def test_significance_allowed_changes(more):
    """Every way to change recalls of 500 queries so that `more` more are right, by scipy."""
    result = significance(100 * (100 + more) / 500, 20, 500, metric="recall").allowed
    significant = []
    for lost in range(40):
        first = np.concatenate([np.ones(more + lost), np.zeros(500 - more - lost)])
        second = np.concatenate([np.zeros(more + lost), np.ones(lost), np.zeros(500 - more)])
        p = stats.ttest_rel(first, second[:500]).pvalue if more + lost else 1.0
        significant += [more + 2 * lost] * bool(p <= 0.05)
    assert result == max(significant, default=0)


@pytest.mark.parametrize("seed", range(30))
def test_significance_precisions(seed):
    """Decisions from rounded means of real precisions equal those of scipy."""
    draw = np.random.default_rng(seed)
    n = 60
    shift = draw.choice([0.0, 0.3, 0.6])
    cited = draw.integers(1, 6, (2, n))
    hits = draw.random((2, n)) < [[0.3 + shift], [0.3]]
    first, second = hits / cited
    peer = stats.ttest_rel(first, second).pvalue <= 0.05
    means = (round(100 * values.mean(), 1) for values in (first, second))
    absolute = round(100 * np.abs(first - second).mean(), 1)
    result = significance(*means, n, metric="precision", absolute=absolute)
    assert result.significant in ("open", "yes" if peer else "no")
    squares = ((first - second) ** 2).sum()
    assert result.lower - 1e-9 <= squares <= result.upper + 1e-9


def test_significance_impossible_recall():
    with pytest.raises(ValueError, match=r"77.9 % of 500 queries is not a whole number"):
        significance(77.9, 78.4, 500, metric="recall")


def test_counts_from_recalls_round_trip():
    keys = [*CONDITION_COLUMNS, "rag_mode", "metric", "value"]
    existing = counts_from_recalls(QUALITY[keys])
    assert set(existing["metric"]) == {CITED} and len(existing) == 36
    back = recalls_from_counts(existing)
    recalls = QUALITY.loc[QUALITY["metric"] == RECALL, "value"].astype(float)
    assert back["value"].to_numpy() == pytest.approx(recalls.to_numpy())
    counts = (
        published_tables("table_5_12", "table_5_13")
        .query("metric == @CITED")["value"]
        .astype(float)
    )
    assert existing["value"].to_numpy() == pytest.approx(counts.to_numpy())


def test_queries_behind_published_counts():
    assert queries_behind(published_tables("table_5_12", "table_5_13")["value"].to_list()) == 500
    # One digit that 500 queries cannot give, and nothing below 1,000 fits.
    assert queries_behind(["0.766", "0.682", "0.001", "0.499"], largest=500) is None


def test_displayed_author_by_mode():
    assert displayed_author("Human", "CF-informed") == "LLM"
    with pytest.raises(ValueError, match="Got author 'Robot' and mode 'Informed'"):
        displayed_author("Robot", "Informed")
    quality = QUALITY.assign(rag_mode="Inverse")
    with pytest.raises(ValueError, match="and mode 'Inverse'"):
        bias_cells(quality)


def test_bias_cells_other_metrics():
    assert set(bias_cells(QUALITY)["metric"]) == {"CAB delta precision", "CAB delta recall"}
    assert PRECISION in set(QUALITY["metric"]) and "EM correctness" in set(QUALITY["metric"])


def test_mark_bias_undecided_by_means():
    rows = [
        ("NQ", "toy", "Human", "LLM", mode, RECALL, value)
        for mode, value in (("Informed", 74.0), ("CF-informed", 70.6))
    ]
    quality = pd.DataFrame(rows, columns=[*CONDITION_COLUMNS, "rag_mode", "metric", "value"])
    marked = mark_bias(bias_cells(quality), bias_significance(quality, 500))
    assert marked["marker"].tolist() == ["?"]


def test_tests_table_one_row_per_number():
    row = ("NQ", "toy", "Human", "LLM", "CAB delta recall", 65.0, "yes")
    tests = pd.DataFrame([row], columns=[*CONDITION_COLUMNS, "metric", "first", "significant"])
    assert published_tests.tests_table("Table 5.3", tests)[
        ["measure", "metric", "value"]
    ].values.tolist() == [
        ["CAB delta recall", "first", 65.0],
        ["CAB delta recall", "significant", "yes"],
    ]
