"""Policies that need no decomposition: known probabilities, a linear program, bad inputs."""

import numpy as np
import pytest
from data_errors import refused

from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.policies import deterministic, omit, plackett_luce, uniform


@pytest.mark.compares("plackett_luce")
def test_plackett_luce_probabilities():
    policy = plackett_luce([3, 2, 1], 2, samples=40_000, rng=np.random.default_rng(0))
    first, second = policy.marginals(3).T
    np.testing.assert_allclose(first, [3 / 6, 2 / 6, 1 / 6], atol=0.01)
    # Second: 3 after 2 or 1, and so on.
    expected = [
        2 / 6 * 3 / 4 + 1 / 6 * 3 / 5,
        3 / 6 * 2 / 3 + 1 / 6 * 2 / 5,
        3 / 6 * 1 / 3 + 2 / 6 * 1 / 4,
    ]
    np.testing.assert_allclose(second, expected, atol=0.01)


def test_plackett_luce_zero_weights():
    policy = plackett_luce([0, 1, 0, 1], 4, samples=4000, rng=np.random.default_rng(1))
    assert set(policy.rankings[:, :2].ravel()) == {1, 3}
    np.testing.assert_allclose(policy.marginals(4)[[0, 2], 2], 0.5, atol=0.04)


@pytest.mark.compares("uniform")
def test_uniform_probabilities():
    policy = uniform(5, 3, samples=40_000, rng=np.random.default_rng(2))
    np.testing.assert_allclose(policy.marginals(5), 0.2, atol=0.01)


@pytest.mark.compares("deterministic")
def test_deterministic_ties():
    policy = deterministic([0.5, 0.9, 0.5], 3)
    assert policy.rankings.tolist() == [[1, 0, 2]]
    assert policy.weights.tolist() == [1.0]


@pytest.mark.compares("omit")
@pytest.mark.parametrize(("n", "k"), [(6, 3), (7, 7), (25, 10)])
def test_omit_without_outliers(n, k):
    merits = np.random.default_rng(n).uniform(0.05, 1, n)
    weights = logarithmic_rank_weights(k)
    matrix = omit(merits, weights, np.zeros(n))
    np.testing.assert_allclose(matrix.sum(axis=0), 1, atol=1e-7)
    assert matrix.sum(axis=1).max() <= 1 + 1e-7
    np.testing.assert_allclose(matrix @ weights, fair_exposure(merits, weights), atol=1e-6)


def test_omit_one_outlier():
    merits, weights = np.full(6, 0.5), logarithmic_rank_weights(6)
    outliers = np.array([4.0, 0, 0, 0, 0, 0])
    matrix = omit(merits, weights, outliers, outlier_ranks=3)
    assert matrix[0, :3].sum() < 1e-7
    # Its exposure is that of the ranks behind them: others may have more, never less.
    exposures = matrix @ weights
    assert (exposures[1:] >= 0).all() and exposures.sum() == pytest.approx(weights.sum())


def test_policies_invalid_values():
    rng = np.random.default_rng(0)
    with refused("number of ranks", 3):
        plackett_luce([1, 1], 3, rng=rng)
    with refused("weight", -1):
        plackett_luce([1, -1], 1, rng=rng)
    with refused("number of ranks", 0):
        deterministic([1, 1], 0)
    with refused("number of ranks", 3):
        uniform(2, 3, rng=rng)
    with refused("merit", 0, row="item 0"):
        omit([0, 1], [1.0], [0, 0])
    with refused("number of outlier scores", 1):
        omit([1, 1], [1.0], [0])


def test_deterministic_many_equal_scores():
    ranking = [*range(1, 100, 2), *range(0, 100, 2)]
    assert deterministic([0.5, 0.9] * 50, 100).rankings.tolist() == [ranking]
