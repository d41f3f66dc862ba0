"""Greedy selection of features by their gain over the features selected so far."""

from __future__ import annotations

import numpy as np

from everycell.explain.shapley import Game


def greedy_selection(game: Game, players: int, limit: int) -> list[int]:
    """Select the feature with the largest gain repeatedly, while gains are positive.

    Source: heuss2025, section 4.5.2, after Singh et al. Ties go to the first feature.
    """
    selected = np.zeros(players, dtype=bool)
    worth = game(selected[None])[0]
    order: list[int] = []
    while len(order) < min(limit, players):
        candidates = np.flatnonzero(~selected)
        coalitions = np.repeat(selected[None], len(candidates), axis=0)
        coalitions[np.arange(len(candidates)), candidates] = True
        values = game(coalitions)
        best = int(np.argmax(values))
        if not values[best] > worth:
            break
        worth = values[best]
        selected = coalitions[best]
        order.append(int(candidates[best]))
    return order
