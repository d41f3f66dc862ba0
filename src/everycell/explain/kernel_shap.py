"""Shapley values by weighted regression over sampled coalitions: KernelSHAP of the package shap."""

from __future__ import annotations

from typing import Literal

import numpy as np

from everycell.engine.arrays import FloatArray
from everycell.explain.shapley import Game


def kernel_shapley_values(
    game: Game,
    players: int,
    *,
    rng: np.random.Generator,
    coalitions: int | Literal["auto"] = "auto",
    select: bool = False,
) -> FloatArray:
    """Shapley values by KernelSHAP, which samples coalitions in pairs with their complements.

    Parameters
    ----------
    game : callable
        From coalitions, shape (c, players), to their values, shape (c,) or (c, k); it is called
        twice with one coalition, and once with all sampled ones.
    players : int
        Features, 2 or more.
    rng : numpy.random.Generator
        Source of the coalitions.
    coalitions : int or "auto"
        Number of sampled coalitions; the package's default is 2 * players + 2048. If there are no
        more than that, all are used, and the values are exact.
    select : bool
        Whether a lasso (AIC) sets small values to 0, as in the released code of heuss2025 with the
        defaults of its version of shap.

    Returns
    -------
    numpy.ndarray of float, shape (players,) or (players, k)
        They sum to the value of the full coalition minus that of the empty one.

    Notes
    -----
    A coalition is a vector of ones for the players in it, and the background a single vector of
    zeros, so that the package's model is the game itself.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> game = lambda coalitions: coalitions @ np.array([1.0, 2.0, 4.0])
    >>> kernel_shapley_values(game, 3, rng=rng).round(6).tolist()
    [1.0, 2.0, 4.0]
    """
    # Importing it takes seconds.
    import shap

    def worth(rows: FloatArray) -> FloatArray:
        return game(np.asarray(rows) > 0.5)

    explainer = shap.KernelExplainer(worth, np.zeros((1, players)))
    # The package uses the global random generator.
    before = np.random.get_state()
    np.random.seed(int(rng.integers(2**32)))
    try:
        values = explainer.shap_values(
            np.ones((1, players)), nsamples=coalitions, l1_reg="aic" if select else 0, silent=True
        )
    finally:
        np.random.set_state(before)
    return np.asarray(values)[0]
