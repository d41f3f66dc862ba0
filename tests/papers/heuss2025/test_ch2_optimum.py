"""Bounds for FELIX: by hand, in their order, and against each other."""

import numpy as np
import pytest
from data_errors import refused

from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.felix import resample
from everycell.fair_ranking.marginals import centre_marginals, entropy_marginals
from everycell.fair_ranking.policies import Policy, holds_outlier
from papers.heuss2025 import ch2_optimum as optimum
from papers.heuss2025.ch2_optimum import generate_rankings, lowest_probability, pool_rankings


def problem(n, k, seed):
    rng = np.random.default_rng(seed)
    weights = logarithmic_rank_weights(k)
    exposures = fair_exposure(rng.uniform(0.01, 1, n), weights)
    return exposures, weights, holds_outlier(1 / rng.random(n)), rng


def test_lowest_probability_lone_outlier():
    # Item 0 is an outlier next to all others; it is shown least often at rank 1: 0.25 / 1.
    exposures, weights = np.array([0.25, 0.75, 0.25, 0.25]), np.array([1.0, 0.5])
    start = Policy(
        np.array([[1, 0], [1, 2], [1, 3], [0, 1], [2, 1], [3, 1], [0, 2], [2, 3], [3, 0], [2, 0]]),
        np.full(10, 0.1),
    )

    def alone(rankings):
        return (rankings == 0).any(axis=1)

    # The start may have other exposures.
    result = generate_rankings(exposures, weights, alone, start)
    assert result.avoided == pytest.approx(0.25)
    assert result.exact
    np.testing.assert_allclose(result.policy.exposures(4, weights), exposures, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_lie_in_their_order(seed):
    exposures, weights, test, rng = problem(9, 8, seed)
    for marginals in (entropy_marginals, centre_marginals):
        matrix = marginals(exposures, weights)
        felix = resample(matrix, test, iterations=20, rng=rng)
        same_matrix = lowest_probability(matrix, test)
        same_exposures = generate_rankings(exposures, weights, test, felix.policy)
        assert same_exposures.exact
        assert same_exposures.avoided <= same_matrix + 1e-7 <= felix.avoided[-1] + 2e-7
        np.testing.assert_allclose(
            same_exposures.policy.exposures(9, weights), exposures, atol=1e-7
        )
        assert len(same_exposures.policy.weights) <= 10


@pytest.mark.parametrize(("items", "seed"), [(14, 0), (14, 1), (15, 2), (16, 3)])
def test_exchanging_items_finds_what_all_sets_give(items, seed, monkeypatch):
    exposures, weights, test, rng = problem(items, 10, seed)
    start = resample(entropy_marginals(exposures, weights), test, iterations=5, rng=rng).policy
    every = generate_rankings(exposures, weights, test, start)
    monkeypatch.setattr(optimum, "MAX_SETS", 0)
    some = generate_rankings(exposures, weights, test, start)
    assert every.exact
    assert some.avoided == pytest.approx(every.avoided, abs=1e-7)


def test_lowest_probability_nothing_shown():
    assert lowest_probability(np.full((2, 2), 0.5), lambda r: np.ones(len(r), dtype=bool)) == 1.0


def test_lowest_probability_long_list():
    with refused("number of sets of 10 of 20 items", 184756):
        lowest_probability(np.full((20, 10), 0.05), lambda r: r[:, 0] < 0)


@pytest.mark.parametrize("seed", range(3))
def test_pooled_rankings_keep_the_matrix_and_lie_between_the_bound_and_felix(seed):
    exposures, weights, test, rng = problem(10, 8, seed)
    matrix = entropy_marginals(exposures, weights)
    felix = resample(matrix, test, iterations=20, rng=np.random.default_rng(seed))
    pooled = pool_rankings(matrix, test, rng=np.random.default_rng(seed))  # its first run is this
    value = pooled.weights[test(pooled.rankings)].sum()
    assert lowest_probability(matrix, test) - 1e-6 <= value <= felix.avoided[-1] + 1e-6
    np.testing.assert_allclose(pooled.marginals(10), matrix, atol=1e-6)


def test_pooled_rankings_are_far_better_on_a_long_list():
    exposures, weights, _, rng = problem(30, 10, 4)
    test = holds_outlier(np.exp(rng.normal(size=30)))
    matrix = entropy_marginals(exposures, weights)
    felix = resample(matrix, test, iterations=20, rng=rng)
    pooled = pool_rankings(matrix, test, rng=rng)
    assert pooled.weights[test(pooled.rankings)].sum() < 0.9 * felix.avoided[-1]
