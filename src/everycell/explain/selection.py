"""Greedy selection of features, by what each adds to the value of those already selected."""

from __future__ import annotations

import numpy as np

from everycell.explain.shapley import Game


def greedy_selection(game: Game, players: int, limit: int) -> list[int]:
    """Select the feature that adds most, until none adds anything.

    Parameters
    ----------
    game : callable
        From coalitions, shape (c, players), to their values, shape (c,).
    players : int
        Features, 1 or more.
    limit : int
        Largest number of selected features.

    Returns
    -------
    list of int
        Features in the order of selection; ties go to the first feature.

    Notes
    -----
    Source: heuss2025, section 4.5.2, after Singh et al.; it ends where a gain is not positive.

    Examples
    --------
    >>> greedy_selection(lambda taken: taken @ np.array([1.0, -1.0, 3.0]), 3, limit=3)
    [2, 0]
    """
    selected = np.zeros(players, dtype=bool)
    worth = game(selected[None])[0]
    order: list[int] = []
    while len(order) < min(limit, players):
        left = np.flatnonzero(~selected)
        tried = np.repeat(selected[None], len(left), axis=0)
        tried[np.arange(len(left)), left] = True
        values = game(tried)
        best = int(np.argmax(values))
        if not values[best] > worth:
            break
        worth = values[best]
        selected = tried[best]
        order.append(int(left[best]))
    return order
