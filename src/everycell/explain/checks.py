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
    """Values of rankings with only the features of an explanation, or all others.

    Source: heuss2025, section 4.6, Preservation(e) and Deletion(e). An explanation consists of the
    features with the highest attributions; ties go to the first feature. The background of the game
    should differ from that of the explanation.
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
