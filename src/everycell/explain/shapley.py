"""Shapley values of a game (exact, sampled, KernelSHAP), and greedy feature selection.

The players of a game are the features of an explained model. A game gives a value to each
coalition, which is a set of players.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray
from everycell.base.errors import require

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
    """All coalitions (2 ** players, players); bit j of a row's index is player j.

    Raises
    ------
    ValueError
        For more players than can be enumerated.

    Examples
    --------
    >>> all_coalitions(2).tolist()
    [[False, False], [True, False], [False, True], [True, True]]
    """
    expected = f"1 to {MAX_PLAYERS}; for more, sample permutations"
    require(1 <= players <= MAX_PLAYERS, "number of players", players, expected)
    return (np.arange(2**players)[:, None] >> np.arange(players) & 1).astype(bool)


def shapley_values(coalition_values: npt.ArrayLike) -> FloatArray:
    """Shapley values from the values of all coalitions.

    Parameters
    ----------
    coalition_values : array_like of float, shape (2 ** f,) or (2 ** f, k)
        Values of one game or of k games, in the order of `all_coalitions`.

    Returns
    -------
    numpy.ndarray of float, shape (f,) or (f, k)
        Values that sum to the value of the full coalition minus that of the empty one.

    Raises
    ------
    ValueError
        For a number of coalitions that is not a power of two.

    Notes
    -----
    Source: heuss2025, definition 4.3.1, with the weights |S|! (n - |S| - 1)! / n!.

    Examples
    --------
    A glove game: player 0 has a left glove, players 1 and 2 have right gloves.

    >>> coalition_values = [0, 0, 0, 1, 0, 1, 0, 1]
    >>> shapley_values(coalition_values).round(4).tolist()
    [0.6667, 0.1667, 0.1667]
    """
    values = np.asarray(coalition_values, dtype=float)
    players = len(values).bit_length() - 1
    is_complete = players >= 1 and len(values) == 2**players
    expected = "one for each of the 2 ** f coalitions of f players"
    require(is_complete, "number of values", len(values), expected)
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
    independent, so their standard deviation gives the standard errors.

    Parameters
    ----------
    game : callable
        Function of coalitions, shape (c, players), that returns their values, shape (c,).
    players : int
        Number of players, 1 or more.
    tolerance : float
        Sampling ends when no standard error exceeds this number, which is above 0.
    limit : int
        Largest number of pairs of permutations, 2 or more.
    rng : numpy.random.Generator
        Random number generator.
    batch_size : int
        Number of pairs between two checks of the errors, 2 or more.

    Returns
    -------
    Attribution
        For any sample, the values sum to the value of the full coalition minus that of the empty
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
    require(players >= 1, "players", players, "1 or more")
    require(limit >= 2, "limit", limit, "2 or more")
    require(batch_size >= 2, "batch_size", batch_size, "2 or more")
    require(tolerance > 0, "tolerance", tolerance, "a number above 0")
    samples = np.empty((0, players))
    while len(samples) < limit:
        pairs = min(batch_size, limit - len(samples))
        orders = rng.permuted(np.tile(np.arange(players), (pairs, 1)), axis=1)
        permutations = np.concatenate([orders, orders[:, ::-1]])
        # Position of each player; the coalitions of a permutation are its prefixes.
        positions = np.argsort(permutations, axis=1)
        steps = np.arange(players + 1)
        coalitions = positions[:, None, :] < steps[None, :, None]
        values = game(coalitions.reshape(-1, players)).reshape(len(permutations), players + 1)
        gains = np.take_along_axis(np.diff(values, axis=1), positions, axis=1)
        samples = np.concatenate([samples, gains.reshape(2, -1, players).mean(axis=0)])
        errors = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
        if errors.max() <= tolerance:
            break
    return Attribution(samples.mean(axis=0), errors, len(samples))


def kernel_shapley_values(
    game: Game,
    players: int,
    *,
    rng: np.random.Generator,
    coalitions: int | Literal["auto"] = "auto",
    select: bool = False,
) -> FloatArray:
    """Shapley values by KernelSHAP, which samples coalitions with their complements.

    By default, it samples 2 * players + 2048 coalitions; if there are no more than that, all are
    used, and the values are exact. With `select`, a lasso (AIC) sets small values to 0, as in the
    released code of heuss2025 with the defaults of its version of shap. The package receives the
    game as its model, ones to explain and zeros as the background, so that masked vectors are the
    indicator vectors of coalitions.
    """
    # The import takes seconds.
    import shap

    def model(rows: FloatArray) -> FloatArray:
        return game(np.asarray(rows) > 0.5)

    explainer = shap.KernelExplainer(model, np.zeros((1, players)))
    # The package uses the global random generator.
    global_state = np.random.get_state()
    np.random.seed(int(rng.integers(2**32)))
    try:
        values = explainer.shap_values(
            np.ones((1, players)), nsamples=coalitions, l1_reg="aic" if select else 0, silent=True
        )
    finally:
        np.random.set_state(global_state)
    return np.asarray(values)[0]


def greedy_selection(game: Game, players: int, limit: int) -> list[int]:
    """Select the player with the largest gain repeatedly, while gains are positive.

    Source: heuss2025, section 4.5.2, after Singh et al. Ties go to the first player.
    """
    selected = np.zeros(players, dtype=bool)
    value = game(selected[None])[0]
    order: list[int] = []
    while len(order) < min(limit, players):
        candidates = np.flatnonzero(~selected)
        coalitions = np.repeat(selected[None], len(candidates), axis=0)
        coalitions[np.arange(len(candidates)), candidates] = True
        values = game(coalitions)
        best = int(np.argmax(values))
        if not values[best] > value:
            break
        value = values[best]
        selected = coalitions[best]
        order.append(int(candidates[best]))
    return order
