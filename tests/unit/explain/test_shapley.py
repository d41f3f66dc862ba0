"""Shapley values: axioms, permutations counted one by one, sampling within its stated error."""

from itertools import permutations

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from everycell.explain.shapley import (
    MAX_PLAYERS,
    all_coalitions,
    greedy_selection,
    sampled_shapley_values,
    shapley_values,
)

numbers = st.floats(-10, 10, allow_subnormal=False)
games = st.integers(1, 5).flatmap(lambda players: arrays(float, 2**players, elements=numbers))


def as_game(worth):
    """Game whose coalitions are all known."""
    bits = 1 << np.arange(len(worth).bit_length() - 1)
    return lambda coalitions: worth[coalitions @ bits]


def by_permutations(worth):
    """Mean gain of each player over all orders in which they can come."""
    players = len(worth).bit_length() - 1
    result = np.zeros(players)
    orders = list(permutations(range(players)))
    for order in orders:
        existing = 0
        for player in order:
            result[player] += worth[existing | 1 << player] - worth[existing]
            existing |= 1 << player
    return result / len(orders)


@pytest.mark.compares("shapley_values", "all_coalitions")
@given(games)
def test_shapley_values_mean_over_orders(worth):
    np.testing.assert_allclose(shapley_values(worth), by_permutations(worth), atol=1e-9)


@given(games)
def test_shapley_values_efficiency(worth):
    assert shapley_values(worth).sum() == pytest.approx(worth[-1] - worth[0], abs=1e-9)


@given(games, st.floats(-3, 3), st.integers(0, 2**32 - 1))
def test_shapley_values_linearity(worth, factor, seed):
    other = np.random.default_rng(seed).normal(size=len(worth))
    both = shapley_values(worth + factor * other)
    np.testing.assert_allclose(
        both, shapley_values(worth) + factor * shapley_values(other), atol=1e-9
    )


@given(games)
def test_shapley_values_null_player(worth):
    # The last player is added, and each coalition is worth the same with and without it.
    result = shapley_values(np.concatenate([worth, worth]))
    assert result[-1] == 0
    np.testing.assert_allclose(result[:-1], shapley_values(worth), atol=1e-9)


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_shapley_values_symmetry(players, seed):
    # What counts is how many of the first two are there, and the others one by one.
    coalitions = all_coalitions(players)
    keys = coalitions[:, :2].sum(axis=1) * 100 + coalitions[:, 2:] @ (1 << np.arange(players - 2))
    values = np.random.default_rng(seed).normal(size=300)
    result = shapley_values(values[keys])
    assert result[0] == pytest.approx(result[1])


def test_shapley_values_many_games():
    worth = np.random.default_rng(0).normal(size=(16, 3))
    item = np.column_stack([shapley_values(one) for one in worth.T])
    np.testing.assert_allclose(shapley_values(worth), item)


@pytest.mark.compares("sampled_shapley_values")
@settings(max_examples=25, deadline=None)
@given(arrays(float, 16, elements=numbers), st.integers(0, 2**32 - 1))
def test_sampled_shapley_values_within_error(worth, seed):
    exact = shapley_values(worth)
    rng = np.random.default_rng(seed)
    result = sampled_shapley_values(as_game(worth), 4, tolerance=1e-12, limit=400, rng=rng)
    assert result.values.sum() == pytest.approx(worth[-1] - worth[0], abs=1e-9)
    # Six errors: a chance of some billionths for each of a hundred values.
    assert (np.abs(result.values - exact) <= 6 * result.errors + 1e-9).all()


def test_sampled_shapley_values_error_of_draws():
    worth = np.random.default_rng(4).normal(size=64)
    draws = [
        sampled_shapley_values(
            as_game(worth), 6, tolerance=1e-12, limit=64, rng=np.random.default_rng(seed)
        )
        for seed in range(300)
    ]
    spread = np.std([draw.values for draw in draws], axis=0, ddof=1)
    stated = np.mean([draw.errors for draw in draws], axis=0)
    np.testing.assert_allclose(stated, spread, rtol=0.2)


def test_sampled_shapley_values_stops():
    worth = np.random.default_rng(1).normal(size=32)
    few, many = (
        sampled_shapley_values(
            as_game(worth), 5, tolerance=tolerance, limit=5000, rng=np.random.default_rng(0)
        )
        for tolerance in (0.1, 0.02)
    )
    assert few.permutations < many.permutations < 5000
    assert few.errors.max() <= 0.1
    assert many.errors.max() <= 0.02


@pytest.mark.parametrize(("limit", "batch_size"), [(2, 2), (3, 2), (17, 16), (20, 16)])
def test_sampled_shapley_values_limit(limit, batch_size):
    worth = np.random.default_rng(1).normal(size=32)
    rng = np.random.default_rng(0)
    result = sampled_shapley_values(
        as_game(worth), 5, tolerance=1e-12, limit=limit, rng=rng, batch_size=batch_size
    )
    assert result.permutations == limit
    assert result.values.sum() == pytest.approx(worth[-1] - worth[0])


@pytest.mark.parametrize("players", [0, MAX_PLAYERS + 1])
def test_all_coalitions_invalid_number(players):
    with refused("number of players", players):
        all_coalitions(players)


@pytest.mark.parametrize("count", [1, 3, 12])
def test_shapley_values_missing_coalitions(count):
    with refused("number of values", count):
        shapley_values(np.zeros(count))


@pytest.mark.parametrize(
    "wrong", [{"tolerance": 0}, {"tolerance": float("nan")}, {"limit": 1}, {"batch_size": 1}]
)
def test_sampled_shapley_values_invalid_numbers(wrong):
    arguments = {"tolerance": 0.1, "limit": 10, "rng": np.random.default_rng(0)} | wrong
    with refused(*next(iter(wrong.items()))):
        sampled_shapley_values(as_game(np.zeros(4)), 2, **arguments)


@pytest.mark.compares("greedy_selection")
def test_greedy_selection_no_gain():
    # Alone each is worth 1; together the first two are worth less.
    worth = np.array([0.0, 1.0, 1.0, 0.5, 1.0, 1.5, 1.2, 3.0])
    assert greedy_selection(as_game(worth), 3, limit=3) == [0, 2, 1]
    assert greedy_selection(as_game(worth), 3, limit=2) == [0, 2]
    assert greedy_selection(as_game(-worth), 3, limit=3) == []


def test_sampled_shapley_values_by_hand():
    """The standard error of two values is half of their distance.

    Of three players there are three pairs of a permutation and its reverse: one per player in the
    middle.
    """
    worth = np.random.default_rng(8).normal(size=8)
    bits = 1 << np.arange(3)
    by_middle = []
    for middle in range(3):
        first, last = [player for player in range(3) if player != middle]
        gains = np.zeros(3)
        for order in ([first, middle, last], [last, middle, first]):
            coalition = 0
            for player in order:
                gains[player] += worth[coalition + bits[player]] - worth[coalition]
                coalition += bits[player]
        by_middle.append(gains / 2)
    errors = {
        tuple(np.round(np.abs(one - other) / 2, 9)) for one in by_middle for other in by_middle
    }
    observed = {
        tuple(
            np.round(
                sampled_shapley_values(
                    as_game(worth), 3, tolerance=1e-12, limit=2, rng=np.random.default_rng(seed)
                ).errors,
                9,
            )
        )
        for seed in range(40)
    }
    assert observed == errors
