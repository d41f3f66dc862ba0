"""Simulated lists of section 2.7: expected values, changes by hand, the figure."""

import numpy as np
import pandas as pd
import pytest
from chapter_jobs import FunctionJob

from papers.heuss2025.ch2_figures import outlier_reductions
from papers.heuss2025.ch2_simulation import (
    DISTRIBUTIONS,
    chances,
    compare_with_optimum,
    matrices_and_rules,
    melt_bounds,
    outliers_by_iteration,
    reductions,
    sensitivity_analysis,
    simulated_list,
)


@pytest.mark.parametrize(
    ("name", "median", "share_above_2"),
    [("uniform", 0.5, 0), ("normal", 0, 0.0228), ("log-normal", 1, 0.244), ("power-law", 2, 0.5)],
)
def test_distributions(name, median, share_above_2):
    values = DISTRIBUTIONS[name](np.random.default_rng(0), (200_000,))
    assert np.isfinite(values).all()
    assert np.median(values) == pytest.approx(median, abs=0.02)
    assert (values > 2).mean() == pytest.approx(share_above_2, abs=0.005)


def test_simulated_list_exposures():
    exposures, weights, scores, _ = simulated_list(200, 0, 10, seed=1)
    assert exposures.sum() == pytest.approx(weights.sum())
    assert exposures.mean() / exposures.max() == pytest.approx(0.5, abs=0.06)
    assert set(scores) == set(DISTRIBUTIONS)


def test_outliers_by_iteration_seeds():
    arguments = {"lists": 3, "ranks": 10, "iterations": 3}
    first, again, other = (outliers_by_iteration(15, **arguments, seed=seed) for seed in (1, 1, 2))
    assert all((first[name] == again[name]).all() for name in DISTRIBUTIONS)
    assert any((first[name] != other[name]).any() for name in DISTRIBUTIONS)


def test_outliers_by_iteration_all_items_shown():
    result = outliers_by_iteration(10, lists=10, ranks=10, iterations=3, seed=0)
    for left in result.values():
        np.testing.assert_allclose(left[:, 0], left[:, 2], atol=1e-9)
        assert set(left[:, 0].round(9)) <= {0.0, 1.0}


def test_reductions_by_hand():
    once, felix = np.array([0.5, 0.3]), np.array([0.1, 0.3])
    # Samples: both lists, the first one twice, the second one twice.
    draws = np.array([[1, 1], [2, 0], [0, 2]], dtype=float)
    points = [(20, once, felix), (30, np.zeros(2), np.zeros(2)), (10, once, once)]
    frame, samples = reductions(points, draws, 10)
    assert frame["x"].tolist() == [20, 10]  # at 30 there is nothing to reduce
    assert frame["value"].tolist() == pytest.approx([-50, 0])
    assert frame[["once", "felix"]].to_numpy().tolist() == pytest.approx(
        np.array([[0.4, 0.2], [0.4, 0.4]])
    )
    np.testing.assert_allclose(samples[:, 0], [-50, -80, 0])
    assert frame.loc[0, ["low", "high"]].tolist() == pytest.approx([-78.5, -2.5])


def test_sensitivity_analysis_points_and_changes():
    points, changes = sensitivity_analysis(
        candidates=[10, 20, 30],
        iterations=[1, 2, 4],
        at_candidates=20,
        at_iterations=3,
        lists=8,
        ranks=10,
        bootstrap=200,
        seed=0,
        steps={"candidates": [(10, 20), (20, 30)], "iterations": [(1, 2), (2, 4)]},
    )
    heavy = points[points["distribution"] == "power-law"].set_index(["panel", "x"])
    assert heavy.loc[("candidates", 10), "value"] == 0
    assert heavy.loc[("iterations", 1), "value"] == 0
    # One list of items in both panels, of which one shows three iterations and the other all.
    assert heavy.loc[("candidates", 20), "once"] == heavy.loc[("iterations", 4), "once"]
    four, three = heavy.loc[("iterations", 4), "felix"], heavy.loc[("candidates", 20), "felix"]
    assert four <= three <= heavy.loc[("iterations", 2), "felix"]
    assert ((points["low"] <= points["value"]) & (points["value"] <= points["high"])).all()
    of_one = changes[(changes["distribution"] == "power-law") & (changes["end"] == "value")]
    value = of_one.set_index(["panel", "change"])["value"]
    step = heavy.loc[("iterations", 4), "value"] - heavy.loc[("iterations", 2), "value"]
    assert value["iterations", "2 to 4"] == pytest.approx(step)
    less = value["iterations", "2 to 4"] - value["iterations", "1 to 2"]
    assert value["iterations", "2 to 4, less 1 to 2"] == pytest.approx(less)


def test_matrices_and_rules_rows():
    choices = matrices_and_rules(
        items=12,
        lists=2,
        ranks=10,
        iterations=[1, 3],
        rules=["row_first", "assignment"],
        bootstrap=50,
        seed=0,
    )
    keys = ["distribution", "probabilities", "matching", "iterations", "end"]
    assert len(choices) == len(choices.drop_duplicates(keys)) == 2 * 3 * 2 * 2 * 3
    bounds = compare_with_optimum(
        sizes=[(9, 8), (16, 10)], lists=4, iterations=5, bootstrap=50, seed=0
    )
    value = bounds[bounds["end"] == "value"].set_index(["items", "distribution", "policy"])["value"]
    for law in ("log-normal", "power-law"):
        order = [
            value["9", law, policy]
            for policy in (
                "generated for these exposures",
                "the least with this matrix",
                "pooled for this matrix",
                "FELIX, 5 iterations",
                "one decomposition",
            )
        ]
        assert order == sorted(order) or np.allclose(order, sorted(order), atol=1e-5)
    assert ("16", "power-law", "the least with this matrix") not in value.index


def points_to_draw():
    """Two panels with two series."""
    return pd.DataFrame(
        [
            (panel, name, x, -10.0 * position, -10.0 * position - 5, -10.0 * position + 5)
            for panel, xs in {"candidates": [10, 50, 200], "iterations": [1, 5, 33]}.items()
            for name in ("normal", "power-law")
            for position, x in enumerate(xs)
        ],
        columns=["panel", "distribution", "x", "value", "low", "high"],
    )


def test_outlier_reductions_points():
    figure = outlier_reductions(points_to_draw())
    left, right = figure.axes
    for axes, xs in ((left, [10, 50, 200]), (right, [1, 5, 33])):
        lines = [bars.lines[0] for bars in axes.containers]
        assert [bars.get_label() for bars in axes.containers] == ["normal", "power-law"]
        assert all(line.get_xdata().tolist() == xs for line in lines)
        assert all(line.get_ydata().tolist() == [0, -10, -20] for line in lines)
        low, high = axes.get_xlim()
        assert low < xs[0] and xs[-1] < high
    assert right.get_xscale() == "log"
    assert [label.get_text() for label in right.get_xticklabels()] == ["1", "5", "33"]


def test_outlier_reductions_invalid():
    points = points_to_draw()
    with pytest.raises(ValueError, match="expected one of candidates, iterations"):
        outlier_reductions(points.assign(panel="time"))
    with pytest.raises(ValueError, match="two marks"):
        outlier_reductions(pd.concat([points, points]))


def test_melt_bounds_order():
    frame = pd.DataFrame({"a": ["x", "y"], "value": [2, 5], "low": [1, 4], "high": [3, 6]})
    assert melt_bounds(frame)["value"].tolist() == [2, 1, 3, 5, 4, 6]


def test_chances_of_seven_items():
    """Among seven items, none can deviate by 2.5 standard deviations."""
    job = FunctionJob(params={"lists": 100, "length": 7, "seed": 1})
    chances(job)
    assert job.tables[""]["value"].tolist() == [0.0] * 4
