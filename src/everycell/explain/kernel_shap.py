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
    """Shapley values by KernelSHAP, which samples coalitions with their complements.

    By default, it samples 2 * players + 2048 coalitions; if there are no more than that, all are
    used, and the values are exact. With `select`, a lasso (AIC) sets small values to 0, as in the
    released code of heuss2025 with the defaults of its version of shap. The package receives the
    game as its model, ones to explain and zeros as the background, so that masked vectors are the
    indicator vectors of coalitions.
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
