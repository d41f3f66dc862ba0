"""Fair exposure in closed form: fractions by hand, a linear program, bad inputs."""

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from everycell.fair_ranking.fair_exposure import (
    exposure_blocks,
    fair_exposure,
    logarithmic_rank_weights,
)


def by_linear_program(merits, weights):
    """Exposures of the best fair matrix: a variable a probability, a row for each pair of items."""
    n, k = len(merits), len(weights)
    exposure = np.kron(np.eye(n), weights)
    pairs = [
        merits[worse] * exposure[better] - merits[better] * exposure[worse]
        for better in range(n)
        for worse in range(n)
        if merits[better] >= merits[worse] and better != worse
    ]
    rows, columns = np.kron(np.eye(n), np.ones(k)), np.kron(np.ones(n), np.eye(k))
    result = linprog(
        -np.outer(merits, weights).ravel(),
        A_ub=np.vstack([*pairs, rows]),
        b_ub=np.concatenate([np.zeros(len(pairs)), np.ones(n)]),
        A_eq=columns,
        b_eq=np.ones(k),
    )
    assert result.success
    return exposure @ result.x


@pytest.mark.compares("fair_exposure")
@given(
    merits=st.lists(st.integers(5, 100), min_size=2, max_size=7),
    ranks=st.integers(1, 7),
    linear=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_fair_exposure_equals_linear_program(merits, ranks, linear):
    ranks = min(ranks, len(merits))
    weights = np.arange(ranks, 0, -1.0) if linear else logarithmic_rank_weights(ranks)
    merits = np.array(merits) / 100
    expected = by_linear_program(merits, weights)
    np.testing.assert_allclose(fair_exposure(merits, weights), expected, atol=1e-6)


@pytest.mark.compares("exposure_blocks", "logarithmic_rank_weights")
def test_exposure_blocks_by_hand():
    # Sums of merits 4, 6, 7, 8 and of weights 3, 5, 6, 6: the lowest slope is 3/4, of all points
    # and of the first one, so that exposure is proportional and the first item is always first.
    exposures = fair_exposure([1, 4, 1, 2], [3, 2, 1])
    assert exposures.tolist() == [3 / 4, 3, 3 / 4, 3 / 2]
    blocks = exposure_blocks(exposures, [3, 2, 1])
    assert [block.items.tolist() for block in blocks] == [[1], [3, 0, 2]]
    assert [block.ranks for block in blocks] == [slice(0, 1), slice(1, 3)]
    # Slopes 3/8, then 3/5 of the remainder.
    exposures = fair_exposure([8, 3, 2], [3, 2, 1])
    np.testing.assert_allclose(exposures, [3, 9 / 5, 6 / 5], rtol=1e-15)


@given(merits=st.lists(st.floats(1e-4, 1), min_size=3, max_size=40), data=st.data())
@settings(max_examples=60, deadline=None)
def test_fair_exposure_order(merits, data):
    ranks = data.draw(st.integers(1, len(merits)))
    merits, weights = np.array(merits), logarithmic_rank_weights(ranks)
    exposures = fair_exposure(merits, weights)
    assert exposures.sum() == pytest.approx(weights.sum())
    order = np.argsort(-merits, kind="stable")
    assert (np.diff(exposures[order]) <= 1e-12).all()
    assert (np.diff((exposures / merits)[order]) >= -1e-9 * (exposures / merits).max()).all()
    # No items have more together than so many ranks.
    assert (np.cumsum(exposures[order])[:ranks] <= np.cumsum(weights) + 1e-9).all()


def test_fair_exposure_equal_merits():
    assert fair_exposure([0.5, 0.5, 0.5], [1.0]).tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(
    ("merits", "weights", "row", "column", "value"),
    [
        ([0.5, 0.0], [1.0], "item 1", "merit", 0),
        ([0.5, float("nan")], [1.0], "item 1", "merit", float("nan")),
        ([], [1.0], None, "shape of the merits", (0,)),
        ([0.5], [1.0, 0.5], None, "number of ranks", 2),
        ([0.5, 0.5], [0.5, 1.0], None, "rank_weights", [0.5, 1]),
        ([0.5, 0.5], [1.0, -0.5], None, "rank_weights", [1, -0.5]),
        ([0.5, 0.5], [], None, "shape of the rank weights", (0,)),
    ],
)
def test_fair_exposure_invalid_values(merits, weights, row, column, value):
    with refused(column, value, row=row):
        fair_exposure(merits, weights)


@pytest.mark.parametrize(
    ("exposures", "column", "value"),
    [
        ([1.0, 0.4, 0.4], "sum of exposures", pytest.approx(1.8)),
        ([1.2, 0.3, 0.0], "sum of the top 1 exposures", 1.2),
        ([1.2, -0.1, 0.4], "exposure", -0.1),
        ([1.5], "number of ranks", 2),
    ],
)
def test_exposure_blocks_impossible_exposures(exposures, column, value):
    with refused(column, value):
        exposure_blocks(exposures, [1.0, 0.5])
