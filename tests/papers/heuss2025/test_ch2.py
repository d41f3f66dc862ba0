"""Policies of Tables 2.2 and 2.3 of heuss2025: made, measured, and tested against each other."""

import numpy as np
import pandas as pd
import pytest
from chapter_jobs import FunctionJob

from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.policies import Policy, holds_outlier
from papers.heuss2025.ch2 import (
    ROWS,
    count_lists_by_size,
    list_statistics,
    mark_cells,
    mean_cells,
    select_readings,
    significance_cells,
)
from papers.heuss2025.ch2_policies import (
    METRICS,
    Setup,
    best_items,
    measure_policies,
    measures,
    policies,
    policies_of,
)


def a_list(seed, items=20):
    rng = np.random.default_rng(seed)
    return best_items(rng.random(items), rng.random(items) < 0.3, rng.lognormal(size=items), 60)


@pytest.mark.parametrize("ranks", [10, None])
def test_policies_of_fair_exposures(ranks):
    items = a_list(1)
    setup = Setup(ranks=ranks)
    weights = logarithmic_rank_weights(ranks or 20)
    expected = fair_exposure(items.scores, weights)
    result = dict(policies_of(items, setup, np.random.default_rng(1)))
    for row in ("FELIX_iter=20", "FELIX_iter=1"):
        np.testing.assert_allclose(result[row].exposures(20, weights), expected, atol=1e-6)
    # OMIT may be fair with other exposures; none is below its merit.
    exposures = result["OMIT"].exposures(20, weights) / items.scores
    assert (np.diff(exposures) > -1e-6).all()


def test_measure_policies_felix():
    result = measure_policies(
        [a_list(seed) for seed in range(8)], Setup(ranks=10), np.random.default_rng(2)
    )
    means = result.groupby("row")[list(METRICS)].mean()
    often, once = means.loc["FELIX_iter=20"], means.loc["FELIX_iter=1"]
    assert often["P(u|pi)@10"] < once["P(u|pi)@10"] - 0.05
    assert often["EE-L"] == pytest.approx(once["EE-L"], abs=1e-6)
    assert often["NDCG@10"] == pytest.approx(once["NDCG@10"], abs=1e-6)


def test_policies_of_felix_first_decomposition():
    # As in the authors' code, it is the one of FELIX_iter=1, in the order of scores.
    items = a_list(1)
    result = dict(policies_of(items, Setup(ranks=10), np.random.default_rng(1)))
    once, often = result["FELIX_iter=1"], result["FELIX_iter=20"]
    good = ~holds_outlier(items.outlying)(once.rankings)
    assert 0 < good.sum() < len(good)
    remaining = often.rankings[: good.sum()], often.weights[: good.sum()]
    np.testing.assert_array_equal(remaining[0], once.rankings[good])
    np.testing.assert_allclose(remaining[1], once.weights[good])


def test_select_readings_single():
    cells = pd.DataFrame({"epochs": ["up to 30", "10"], "value": [1.0, 2.0]})
    assert select_readings(cells, ["10"]).to_dict("list") == {"value": [2.0]}
    assert select_readings(cells, ["up to 30", "10"]).equals(cells)


def test_best_items_facts():
    result = best_items([1.0, 4.0, 2.0, 4.0], [0, 1, 0, 0], [5, 6, 7, 8], items=3)
    assert result.outlying.tolist() == [6, 8, 7]
    assert result.relevance.tolist() == [1, 0, 0]
    assert result.scores[0] == pytest.approx(1.0)


def test_best_items_equal_scores():
    with pytest.raises(ValueError, match="All 3 items of a list have the score 2"):
        best_items([2.0, 2.0, 2.0], [1, 0, 0], [1, 2, 3], items=60)


def measures_of(rows):
    """Measures of two trainings of 30 queries; each row shifts FELIX's by so much."""
    rng = np.random.default_rng(5)
    base = rng.normal(size=(30, len(METRICS)))
    frames = []
    for row, shift in rows.items():
        for run in range(2):
            values = base + shift + run * 0.01 + 0.01 * rng.normal(size=base.shape) * (shift != 0)
            frame = pd.DataFrame(values, columns=list(METRICS))
            frames.append(frame.assign(row=row, run=run, query=range(30)))
    return pd.concat(frames, ignore_index=True).assign(dataset="TREC20", epochs=30)


def test_mark_cells_paired_and_unpaired():
    shifts = dict.fromkeys(ROWS["2"], 0.05) | {"FELIX_iter=20": 0.0, "FELIX_iter=1": 0.0}
    measures = measures_of(shifts)
    cells = mean_cells(measures, "2")
    tests = significance_cells(measures, "2")
    first = measures[(measures["row"] == "PL")]["NDCG@5"].mean()
    position = (cells["row"] == "PL@10") & (cells["metric"] == "NDCG@5")
    assert cells.loc[position, "value"].item() == pytest.approx(first)
    paired = mark_cells(cells, tests, "p paired", 0.05)
    unpaired = mark_cells(cells, tests, "p unpaired", 0.05)
    assert set(paired.loc[paired["row"] == "PL@10", "marker"]) == {"*"}
    assert set(unpaired["marker"]) == {""}
    # One matrix, decomposed twice: no difference, whatever rounding says.
    assert set(paired.loc[paired["row"] == "FELIX_iter=1", "marker"]) == {""}


def test_mean_cells_missing_value():
    measures = measures_of(dict.fromkeys(ROWS["3"], 0.05) | {"FELIX_iter=20": 0.0})
    measures.loc[measures["query"] == 4, "EE-L"] = np.nan
    cells = mean_cells(measures, "3")
    assert cells["value"].notna().all()
    assert significance_cells(measures, "3")["value"].between(0, 1).all()


def test_list_statistics_short_lists():
    sizes = {1: 20, 2: 19, 3: 30}
    lists = pd.DataFrame(
        [(query, item == 0) for query, size in sizes.items() for item in range(size)],
        columns=["query", "relevance"],
    )
    parts = {("TREC20", "test"): lists}
    result = list_statistics(parts).set_index(["version", "metric"])["value"]
    assert result["original", "avg_list_size"] == 23
    assert result["preprocessed", "avg_list_size"] == 25
    numbers = count_lists_by_size(parts).set_index("metric")["value"]
    assert numbers["20 items or more"] == 2
    assert numbers["more than 20 items"] == 1


def test_measures_without_a_relevant_ranked_item():
    items = best_items([3.0, 1.0, 2.0], [0, 1, 0], [0.0, 0.0, 0.0], items=2)
    result = measures(Policy(np.array([[0, 1]]), np.ones(1)), items, outlier_ranks=2)
    assert result["NDCG@5"] == 0 and np.isnan(result["EE-L"])


def test_policies_per_training_run(tmp_path):
    lists = pd.DataFrame({"query": 0, "score": [1.0, 2.0], "relevance": 1, "outlying": 5.0})
    runs = [lists.assign(epochs="10", run=run) for run in (0, 1)]
    pd.concat(runs).to_parquet(tmp_path / "scores.parquet")
    frames = {}
    job = FunctionJob(
        input={"scores": tmp_path / "scores.parquet"},
        params={"setup": {"samples": 10}, "seed": 1},
        wildcards={"dataset": "TREC20"},
    )
    job.write_frame = lambda frame, name: frames.update({name: frame})
    policies(job)
    keys = frames["measures"].groupby(["dataset", "epochs", "run"])["row"].nunique()
    assert keys.to_dict() == {("TREC20", "10", 0): 6, ("TREC20", "10", 1): 6}
