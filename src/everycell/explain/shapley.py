"""Shapley values of a game, by enumerating all coalitions or by sampling permutations."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.engine.arrays import BoolArray, FloatArray

#: From coalitions, shape (c, f), to their values, shape (c,) or (c, k).
Game = Callable[[BoolArray], FloatArray]

#: Largest number of players for enumeration: 32,768 coalitions.
MOST_PLAYERS = 15


class Attribution(NamedTuple):
    """Result of sampling."""

    values: FloatArray  #: shape (f,)
    errors: FloatArray  #: standard error of each value, shape (f,)
    permutations: int  #: drawn, each with its reverse


def all_coalitions(players: int) -> BoolArray:
    """All coalitions, shape (2 ** players, players); bit j of a row's number is player j.

    Raises
    ------
    ValueError
        For more players than can be enumerated.

    Examples
    --------
    >>> all_coalitions(2).tolist()
    [[False, False], [True, False], [False, True], [True, True]]
    """
    if not 1 <= players <= MOST_PLAYERS:
        raise ValueError(
            f"There are {players} features: enumeration takes 1 to {MOST_PLAYERS}, so draw "
            "permutations."
        )
    return (np.arange(2**players)[:, None] >> np.arange(players) & 1).astype(bool)


def shapley_values(worth: npt.ArrayLike) -> FloatArray:
    """Shapley values from the values of all coalitions.

    Parameters
    ----------
    worth : array_like of float, shape (2 ** f,) or (2 ** f, k)
        In the order of `all_coalitions`; k games at once.

    Returns
    -------
    numpy.ndarray of float, shape (f,) or (f, k)
        They sum to the value of the full coalition minus that of the empty one.

    Raises
    ------
    ValueError
        For a number of coalitions that is not a power of two.

    Notes
    -----
    Source: heuss2025, definition 4.3.1, with the weights |S|! (n - |S| - 1)! / n!.

    Examples
    --------
    A glove game: player 0 has a left glove, the two others a right one each.

    >>> worth = [0, 0, 0, 1, 0, 1, 0, 1]
    >>> shapley_values(worth).round(4).tolist()
    [0.6667, 0.1667, 0.1667]
    """
    values = np.asarray(worth, dtype=float)
    players = len(values).bit_length() - 1
    if players < 1 or len(values) != 2**players:
        raise ValueError(f"Values of {len(values)} coalitions are given; f features have 2 ** f.")
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
    at_once: int = 16,
) -> Attribution:
    """Shapley values from permutations of the players, each with its reverse.

    A permutation adds the players one by one, and a player's gain is a sample of its value. The
    mean over a permutation and its reverse has a smaller variance, and such means are independent,
    so that their spread gives the errors.

    Parameters
    ----------
    game : callable
        From coalitions, shape (c, players), to their values, shape (c,).
    players : int
        Features, 1 or more.
    tolerance : float
        Sampling ends when no standard error is above this; above 0.
    limit : int
        Largest number of pairs of permutations, 2 or more.
    rng : numpy.random.Generator
        Source of the permutations.
    at_once : int
        Number of pairs between two checks of the errors, 2 or more.

    Returns
    -------
    Attribution
        Whatever is drawn, the values sum to the value of the full coalition minus that of the empty
        one.

    Raises
    ------
    ValueError
        For a number or tolerance that is too small.

    Examples
    --------
    >>> game = lambda coalitions: coalitions @ np.array([1.0, 2.0, 4.0])
    >>> rng = np.random.default_rng(0)
    >>> sampled_shapley_values(game, 3, tolerance=0.1, limit=100, rng=rng).values.tolist()
    [1.0, 2.0, 4.0]
    """
    if players < 1 or limit < 2 or at_once < 2 or not tolerance > 0:
        raise ValueError(
            f"There are {players} features, at most {limit} permutations, {at_once} at once and "
            f"the tolerance {tolerance}: expected 1, 2, 2 or more and a tolerance above 0."
        )
    samples = np.empty((0, players))
    while len(samples) < limit:
        pairs = min(at_once, limit - len(samples))
        orders = rng.permuted(np.tile(np.arange(players), (max(pairs, 2), 1)), axis=1)
        both = np.concatenate([orders, orders[:, ::-1]])
        # Position of each player; a coalition of a permutation holds the players at its first
        # positions.
        positions = np.argsort(both, axis=1)
        steps = np.arange(players + 1)
        coalitions = positions[:, None, :] < steps[None, :, None]
        worth = game(coalitions.reshape(-1, players)).reshape(len(both), players + 1)
        gains = np.take_along_axis(np.diff(worth, axis=1), positions, axis=1)
        samples = np.concatenate([samples, gains.reshape(2, -1, players).mean(axis=0)])
        errors = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
        if errors.max() <= tolerance:
            break
    return Attribution(samples.mean(axis=0), errors, len(samples))
