"""Decompositions: what must not change, what must not rise, and how many rankings there are."""

import sys

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base import arrays
from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.felix import decompose, resample
from everycell.fair_ranking.marginals import entropy_marginals
from everycell.fair_ranking.matchings import compile_if_possible, split_by_rows
from everycell.fair_ranking.policies import holds_outlier, outlier_probability

RULES = ["row_first", "column_first", "assignment"]


def fair_matrix(n, k, rng):
    """Fair probabilities of random merits."""
    weights = logarithmic_rank_weights(k)
    return entropy_marginals(fair_exposure(rng.uniform(1e-4, 1, n), weights), weights)


def check_policy(policy, matrix):
    n, k = matrix.shape
    assert (policy.weights > 0).all()
    assert policy.weights.sum() == pytest.approx(1, abs=1e-12)
    # Each ranking shows k different items.
    assert (
        np.sort(policy.rankings, axis=1)[:, 1:] > np.sort(policy.rankings, axis=1)[:, :-1]
    ).all()
    np.testing.assert_allclose(policy.marginals(n), matrix, atol=1e-9)


@pytest.mark.compares("decompose")
@pytest.mark.parametrize("matching", RULES)
def test_decompose_by_hand(matching):
    # Two rankings and no others have these probabilities.
    policy = decompose([[0.75, 0.0], [0.25, 0.0], [0.0, 1.0]], matching=matching)
    result = sorted(zip(policy.rankings.tolist(), policy.weights.tolist(), strict=True))
    assert result == [([0, 2], 0.75), ([1, 2], 0.25)]
    # Of three items only the third may be left out, half of the time.
    policy = decompose([[0.5, 0.5], [0.5, 0.0], [0.0, 0.5]], matching=matching)
    result = sorted(zip(policy.rankings.tolist(), policy.weights.tolist(), strict=True))
    assert result == [([0, 2], 0.5), ([1, 0], 0.5)]


@given(data=st.data(), n=st.integers(2, 14), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_decompose_keeps_probabilities(data, n, seed):
    k = data.draw(st.integers(1, n))
    rng = np.random.default_rng(seed)
    matrix = fair_matrix(n, k, rng)
    policy = decompose(matrix, matching=data.draw(st.sampled_from(RULES)), rng=rng)
    check_policy(policy, matrix)
    assert len(policy.weights) <= (n - 1) * k + 1


@pytest.mark.compares("resample")
@given(n=st.integers(8, 24), seed=st.integers(0, 2**32 - 1), matching=st.sampled_from(RULES))
@settings(max_examples=40, deadline=None)
def test_resample_keeps_probabilities(n, seed, matching):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(8, n + 1))
    matrix, scores = fair_matrix(n, k, rng), np.exp(rng.normal(size=n) * 2)
    result = resample(matrix, holds_outlier(scores), iterations=6, matching=matching, rng=rng)
    check_policy(result.policy, matrix)
    assert result.avoided.shape == (6,)
    assert (np.diff(result.avoided) <= 1e-12).all()
    assert outlier_probability(result.policy, scores) == pytest.approx(result.avoided[-1], abs=1e-9)


@given(n=st.integers(8, 12), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_resample_all_items_shown(n, seed):
    rng = np.random.default_rng(seed)
    scores = np.exp(rng.normal(size=n) * 2)
    result = resample(fair_matrix(n, n, rng), holds_outlier(scores), iterations=4, rng=rng)
    expected = float(holds_outlier(scores)(np.arange(n)[None])[0])
    np.testing.assert_allclose(result.avoided, expected, atol=1e-9)


def test_resample_iterations():
    rng = np.random.default_rng(3)
    matrix, scores = fair_matrix(60, 10, rng), np.exp(rng.normal(size=60))
    result = resample(matrix, holds_outlier(scores), iterations=20, rng=rng)
    assert result.avoided[-1] < 0.8 * result.avoided[0]


def test_resample_one_iteration():
    matrix = fair_matrix(20, 10, np.random.default_rng(4))
    once = resample(
        matrix, lambda r: r[:, 0] < 3, iterations=1, rng=np.random.default_rng(5)
    ).policy
    plain = decompose(matrix, rng=np.random.default_rng(5))
    assert (once.rankings == plain.rankings).all()
    np.testing.assert_allclose(once.weights, plain.weights, atol=1e-12)


def test_decompose_rare_items():
    # Merits from 1 to 1e-4: probabilities of 1e-5 must be in the policy as well.
    weights = logarithmic_rank_weights(10)
    merits = np.geomspace(1, 1e-4, 40)
    matrix = entropy_marginals(fair_exposure(merits, weights), weights)
    rng = np.random.default_rng(6)
    policy = resample(matrix, lambda r: r[:, 0] % 2 == 0, rng=rng).policy
    check_policy(policy, matrix)
    np.testing.assert_allclose(policy.exposures(40, weights) / (matrix @ weights), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("matrix", "row", "column", "value"),
    [
        ([[0.5], [0.4]], "rank 1", "sum of probabilities", 0.9),
        ([[1.0, 0.5], [0.0, 0.5]], "item 0", "sum of probabilities", 1.5),
        ([[1.2], [-0.2]], "item 1, rank 1", "probability", -0.2),
        ([[float("nan")], [1.0]], "item 0, rank 1", "probability", float("nan")),
        ([[0.5, 0.5]], None, "number of ranks", 2),
        ([0.5, 0.5], None, "shape of the matrix", (2,)),
    ],
)
def test_decompose_invalid_matrix(matrix, row, column, value):
    with refused(column, value, row=row):
        decompose(matrix)


def test_resample_invalid_values():
    with refused("matching", "random"):
        decompose([[1.0]], matching="random")
    with refused("iterations", 0):
        resample([[1.0]], lambda r: r[:, 0] < 0, iterations=0)


@pytest.mark.parametrize("matching", RULES[:2])
def test_decompose_without_numba(monkeypatch, matching):
    half = np.full((4, 2), 0.25)
    compiled = decompose(half, matching=matching)
    monkeypatch.setitem(sys.modules, "numba", None)
    arrays.compiled.cache_clear()
    assert compile_if_possible(split_by_rows) is split_by_rows
    plain = decompose(half, matching=matching)
    arrays.compiled.cache_clear()
    assert plain.rankings.tolist() == compiled.rankings.tolist()
    assert plain.weights.tolist() == compiled.weights.tolist()
