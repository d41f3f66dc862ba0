"""Faithfulness of an explanation: rankings with only its features, and without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everycell.base.arrays import FloatArray
from everycell.explain.shapley import Game


class Checks(NamedTuple):
    """Values of rankings per explanation and size, shape (e, sizes) or (e, sizes, k)."""

    preservation: FloatArray  #: with only the features of the explanation
    deletion: FloatArray  #: with all other features


def checks(game: Game, attributions: FloatArray, sizes: Sequence[int]) -> Checks:
    """Values of rankings with only the features of an explanation, and with all others.

    Parameters
    ----------
    game : callable
        Function of coalitions, shape (c, f), that returns their values, shape (c,) or (c, k). Its
        background should differ from that of the explanation.
    attributions : numpy.ndarray of float, shape (e, f) or (f,)
        Attributions of e explanations of the list, or of one. An explanation consists of the
        features with the highest attributions; ties go to the first feature.
    sizes : sequence of int
        Numbers of features in an explanation; if there are fewer features, all are used.

    Raises
    ------
    ValueError
        For an attribution that is not finite.

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
        raise ValueError("An attribution is not finite, so it has no rank: give finite numbers.")
    attributions = np.atleast_2d(attributions)
    positions = np.argsort(np.argsort(-attributions, kind="stable"), kind="stable")
    in_explanation = positions[:, None] < np.array(sizes)[:, None]
    coalitions = np.array([in_explanation, ~in_explanation])
    # A single call, since games are faster with many coalitions per call.
    worth = game(coalitions.reshape(-1, attributions.shape[1]))
    return Checks(*worth.reshape(*coalitions.shape[:-1], *worth.shape[1:]))
