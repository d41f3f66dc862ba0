"""Matrices with given exposures: their sums, what makes each the best, dense as can be."""

import numpy as np
import pytest
from data_errors import refused

from everycell.fair_ranking.fair_exposure import (
    exposure_blocks,
    fair_exposure,
    logarithmic_rank_weights,
)
from everycell.fair_ranking.marginals import centre_marginals, entropy_marginals

BOTH = pytest.mark.parametrize("marginals", [entropy_marginals, centre_marginals])


def lists(count, seed=0):
    """Lists of many lengths and spreads of merit, cut and whole: merits and rank weights."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        n = int(rng.integers(2, 61))
        k = n if number % 2 else int(rng.integers(1, n + 1))
        merits = np.clip(rng.random(n) ** rng.choice([1, 3, 0.3]), 1e-4, 1)
        weights = logarithmic_rank_weights(k)
        if number % 3 == 0:
            weights = np.round(weights, 1)  # ranks that weigh the same
        if number % 5 == 0:
            merits = np.round(merits, 1) + 0.1  # items that are worth the same
        yield merits, weights


@BOTH
def test_marginals_sums_and_exposures(marginals):
    for merits, weights in lists(60):
        exposures = fair_exposure(merits, weights)
        matrix = marginals(exposures, weights)
        assert matrix.min() >= 0
        np.testing.assert_allclose(matrix.sum(axis=0), 1, atol=1e-9)
        assert matrix.sum(axis=1).max() <= 1 + 1e-9
        np.testing.assert_allclose(matrix @ weights, exposures, atol=1e-9)


@BOTH
def test_marginals_item_nearly_always_last(marginals):
    # Its number in the dual is in the thousands: joint Newton steps do not get there.
    merits = np.append(np.full(15, 0.5), 1e-4)
    weights = logarithmic_rank_weights(60)[44:]
    exposures = np.append(
        np.full(15, (weights.sum() - weights[-1] - 1e-6) / 15), weights[-1] + 1e-6
    )
    matrix = marginals(exposures, weights)
    np.testing.assert_allclose(matrix @ weights, exposures, atol=1e-9)
    assert len(exposure_blocks(exposures, weights)) == 1
    assert len(merits) == len(matrix)


def least_squares_residual(values, weights):
    """What a number for each item, one for its exposure and one for each rank leave of values."""
    n, k = values.shape
    design = np.hstack(
        [
            np.kron(np.eye(n), np.ones((k, 1))),
            np.kron(np.eye(n), weights[:, None]),
            np.kron(np.ones((n, 1)), np.eye(k)),
        ]
    )
    result = np.linalg.lstsq(design, values.ravel(), rcond=None)[0]
    return np.abs(design @ result - values.ravel()).max() / np.abs(values).max()


@pytest.mark.compares("entropy_marginals", "centre_marginals")
@pytest.mark.parametrize(("n", "k"), [(12, 5), (8, 8), (30, 10)])
def test_marginals_optimal(n, k):
    # At the best, the derivative (log P, 1 / P) is a sum of the multipliers of the constraints.
    merits = np.random.default_rng(n).uniform(0.5, 1, n)
    weights = logarithmic_rank_weights(k)
    exposures = fair_exposure(merits, weights)
    assert len(exposure_blocks(exposures, weights)) == 1
    padded = weights if n == k else np.append(weights, 0)
    for marginals, derivative in (
        (entropy_marginals, lambda p: np.log(p)),
        (centre_marginals, lambda p: 1 / p),
    ):
        matrix = marginals(exposures, weights)
        if n > k:
            remaining = 1 - matrix.sum(axis=1)
            matrix = np.column_stack([matrix, remaining])
        assert least_squares_residual(derivative(matrix), padded) < 1e-7
    other = entropy_marginals(exposures, weights)
    assert np.abs(matrix[:, :k] - other).max() > 1e-4  # two matrices, not one


@BOTH
def test_marginals_equal_items(marginals):
    weights = logarithmic_rank_weights(3)
    merits = np.array([0.9, 0.3, 0.3, 0.7, 0.3])
    matrix = marginals(fair_exposure(merits, weights), weights)
    np.testing.assert_allclose(matrix[1], matrix[2], atol=1e-9)
    order = np.array([4, 2, 0, 3, 1])
    moved = marginals(fair_exposure(merits[order], weights), weights)
    np.testing.assert_allclose(moved, matrix[order], atol=1e-8)


@BOTH
def test_marginals_all_items_alike(marginals):
    weights = logarithmic_rank_weights(4)
    matrix = marginals(fair_exposure(np.ones(6), weights), weights)
    np.testing.assert_allclose(matrix, 1 / 6, atol=1e-9)


@BOTH
def test_marginals_single_item(marginals):
    assert marginals([1.0], [1.0]).tolist() == [[1.0]]


@BOTH
def test_marginals_impossible_exposures(marginals):
    with refused("sum of the top 1 exposures", 1.4):
        marginals([1.4, 0.1, 0.0], [1.0, 0.5])
