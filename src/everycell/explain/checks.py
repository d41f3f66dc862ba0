"""Is an explanation faithful? Rankings with its features alone, and without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everycell.engine.arrays import FloatArray
from everycell.explain.shapley import Game


class Checks(NamedTuple):
    """Value of a list for each size of explanations, shapes (e, sizes) or (e, sizes, k)."""

    preservation: FloatArray  #: with only the features of the explanation
    deletion: FloatArray  #: with all other features


def checks(game: Game, attributions: FloatArray, sizes: Sequence[int]) -> Checks:
    """Keep the features with the highest attributions, and remove them.

    Parameters
    ----------
    game : callable
        From coalitions, shape (c, f), to their values, shape (c,) or (c, k). Its background should
        differ from that of the explanation.
    attributions : numpy.ndarray of float, shape (e, f) or (f,)
        Attribution of each feature in e explanations of the list, or in one; ties go to the first
        feature.
    sizes : sequence of int
        Numbers of features in an explanation; all if there are fewer.

    Raises
    ------
    ValueError
        For an attribution that is not a finite number.

    Notes
    -----
    Source: heuss2025, section 4.6, Preservation(e) and Deletion(e).

    Examples
    --------
    >>> game = lambda coalitions: coalitions @ np.array([1.0, 2.0, 4.0])
    >>> checks(game, np.array([[0.1, 0.2, 0.3]]), [1, 2])
    Checks(preservation=array([[4., 6.]]), deletion=array([[3., 1.]]))
    """
    if not np.isfinite(attributions).all():
        raise ValueError("An attribution is not a finite number, so it has no rank: leave it out.")
    attributions = np.atleast_2d(attributions)
    positions = np.argsort(np.argsort(-attributions, kind="stable"), kind="stable")
    is_kept = positions[:, None] < np.array(sizes)[:, None]
    coalitions = np.array([is_kept, ~is_kept])
    # One call, since a game is played faster with many coalitions at once.
    worth = game(coalitions.reshape(-1, attributions.shape[1]))
    return Checks(*worth.reshape(*coalitions.shape[:-1], *worth.shape[1:]))
