"""Shapley values of a game, by enumeration of coalitions or by sampling of permutations."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray

#: Function of coalitions, shape (c, f), that returns their values, shape (c,) or (c, k).
Game = Callable[[BoolArray], FloatArray]

#: Largest number of players for enumeration (32,768 coalitions).
MAX_PLAYERS = 15


class Attribution(NamedTuple):
    """Sampled Shapley values with standard errors."""

    values: FloatArray  #: shape (f,)
    errors: FloatArray  #: standard error of each value, shape (f,)
    permutations: int  #: number of sampled pairs of a permutation and its reverse


def all_coalitions(players: int) -> BoolArray:
    """All coalitions (2 ** players, players); bit j of a row's index is player j."""
    if not 1 <= players <= MAX_PLAYERS:
        raise ValueError(
            f"There are {players} features: enumeration supports 1 to {MAX_PLAYERS}; "
            "sample permutations instead."
        )
    return (np.arange(2**players)[:, None] >> np.arange(players) & 1).astype(bool)


def shapley_values(worth: npt.ArrayLike) -> FloatArray:
    """Shapley values of the worth of all coalitions, ordered as in `all_coalitions`.

    Source: heuss2025, definition 4.3.1, with the weights |S|! (n - |S| - 1)! / n!. Further columns
    are further games.
    """
    values = np.asarray(worth, dtype=float)
    players = len(values).bit_length() - 1
    if players < 1 or len(values) != 2**players:
        raise ValueError(
            f"{len(values)} values are given: f features have 2 ** f coalitions, so "
            "give one value for each."
        )
    coalitions = all_coalitions(players)
    sizes = coalitions.sum(axis=1)
    weights = np.array(
        [factorial(size) * factorial(players - size - 1) for size in range(players)]
    ) / factorial(players)
    attributions = []
    for player in range(players):
        without = np.flatnonzero(~coalitions[:, player])
        gains = values[without + (1 << player)] - values[without]
        attributions.append(weights[sizes[without]] @ gains)
    return np.array(attributions)


def sampled_shapley_values(
    game: Game,
    players: int,
    *,
    tolerance: float,
    limit: int,
    rng: np.random.Generator,
    batch_size: int = 16,
) -> Attribution:
    """Shapley values from sampled permutations of the players and their reverses.

    A permutation adds the players one by one, and a player's gain is a sample of its Shapley
    value. The mean over a permutation and its reverse has a smaller variance. These means are
    independent, so their standard deviation gives the standard errors. Sampling ends when none
    exceeds `tolerance`, or after `limit` pairs.
    """
    if players < 1 or limit < 2 or batch_size < 2 or not tolerance > 0:
        raise ValueError(
            f"players is {players}, limit is {limit}, batch_size is {batch_size} and tolerance is "
            f"{tolerance}: give at least 1, 2 and 2, and a tolerance above 0."
        )
    samples = np.empty((0, players))
    while len(samples) < limit:
        pairs = min(batch_size, limit - len(samples))
        orders = rng.permuted(np.tile(np.arange(players), (max(pairs, 2), 1)), axis=1)
        permutations = np.concatenate([orders, orders[:, ::-1]])
        # Position of each player; the coalitions of a permutation are its prefixes.
        positions = np.argsort(permutations, axis=1)
        steps = np.arange(players + 1)
        coalitions = positions[:, None, :] < steps[None, :, None]
        worth = game(coalitions.reshape(-1, players)).reshape(len(permutations), players + 1)
        gains = np.take_along_axis(np.diff(worth, axis=1), positions, axis=1)
        samples = np.concatenate([samples, gains.reshape(2, -1, players).mean(axis=0)])
        errors = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
        if errors.max() <= tolerance:
            break
    return Attribution(samples.mean(axis=0), errors, len(samples))
