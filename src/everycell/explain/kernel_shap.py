"""Shapley values by weighted regression over sampled coalitions (shap's KernelSHAP)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from everycell.base.arrays import FloatArray
from everycell.explain.shapley import Game


def kernel_shapley_values(
    game: Game,
    players: int,
    *,
    rng: np.random.Generator,
    coalitions: int | Literal["auto"] = "auto",
    select: bool = False,
) -> FloatArray:
    """Shapley values by KernelSHAP, which samples coalitions together with their complements.

    Parameters
    ----------
    game : callable
        Function of coalitions, shape (c, players), that returns their values, shape (c,) or (c, k).
    players : int
        Number of features, 2 or more.
    rng : numpy.random.Generator
        Random number generator for the coalitions.
    coalitions : int or "auto"
        Number of coalitions to sample, by default 2 * players + 2048. If there are no more
        coalitions than that, all are used, and the values are exact.
    select : bool
        Whether a lasso (AIC) sets small values to 0, as in the released code of heuss2025 with the
        defaults of its version of shap.

    Returns
    -------
    numpy.ndarray of float, shape (players,) or (players, k)
        Values that sum to the value of the full coalition minus that of the empty one.

    Notes
    -----
    The package receives the game as its model, a vector of ones to explain and a vector of zeros as
    the background, so masked vectors are the indicator vectors of coalitions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> game = lambda coalitions: coalitions @ np.array([1.0, 2.0, 4.0])
    >>> kernel_shapley_values(game, 3, rng=rng).round(6).tolist()
    [1.0, 2.0, 4.0]
    """
    # The import takes seconds.
    import shap

    def worth(rows: FloatArray) -> FloatArray:
        return game(np.asarray(rows) > 0.5)

    explainer = shap.KernelExplainer(worth, np.zeros((1, players)))
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
