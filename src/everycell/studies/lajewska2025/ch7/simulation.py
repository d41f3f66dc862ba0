"""Simulated studies of chapter 7 with a planted effect: surrogate data for Table 7.4.

Effects of equal size are planted in the ratings on which the thesis finds effects of response
quality, of noise in explanations, and of the presence of explanations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from everycell.collections.user_studies import RESPONSE_RATINGS
from everycell.statistics.anova import anova_cells
from everycell.statistics.effect_size import EffectScale
from everycell.statistics.simulation import rejection_rates, simulate_ratings
from papers.lajewska2025.designs import transparency_study

FACTORS = {
    "response_quality": "Response Quality",
    "explanation_quality": "Explanation Quality",
    "presentation_mode": "Presentation Mode",
    "query": "Query",
}
#: Factor -> ratings on which it has an effect in the thesis (Table 7.4).
PLANTED = {
    "response_quality": {"Correctness"},
    "explanation_quality": set(RESPONSE_RATINGS)
    - {"Correctness", "Conciseness", "Serendipity", "Factuality"},
    "explanation": {"Usefulness", "Relevance", "Conciseness", "Fairness"},
}


def simulated_study(planted: float, scale: EffectScale, rng: np.random.Generator) -> pd.DataFrame:
    """One-way ANOVAs of one simulated study, in the layout of Table 7.4."""
    study = transparency_study()
    ratings = study.design.rename(columns=FACTORS)
    for rating in RESPONSE_RATINGS:
        effects = {factor: planted for factor, affected in PLANTED.items() if rating in affected}
        ratings[rating] = simulate_ratings(study, effects, n_studies=1, rng=rng)[:, 0]
    explained = ratings[ratings["Explanation Quality"] != "None"]
    tables = [
        anova_cells(rows, list(RESPONSE_RATINGS), [factor], scale).assign(
            row=factor, conditions=conditions
        )
        for conditions, rows, factors in (
            ("EC1-EC10", ratings, FACTORS.values()),
            ("EC1-EC8", explained, ("Explanation Quality", "Presentation Mode")),
        )
        for factor in factors
    ]
    keys = ["row", "conditions", "dependent_variable", "metric", "value"]
    return pd.concat(tables, ignore_index=True)[keys]


def simulated_power(
    effects: Sequence[float],
    *,
    studies: int,
    alpha: float,
    worker_sd: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Rejection rates by planted effect, with and without variation between workers."""
    return pd.concat(
        [
            rejection_rates(
                transparency_study(),
                effects,
                factor=factor,
                analysis=factor.replace("_", " "),
                n_studies=studies,
                alpha=alpha,
                worker_sd=deviation,
                rng=rng,
            ).assign(ratings=ratings)
            for ratings, deviation in (
                ("independent ratings", 0.0),
                (f"ten correlated ratings per worker (spread {worker_sd:g})", worker_sd),
            )
            for factor in ("response_quality", "explanation_quality", "presentation_mode")
        ],
        ignore_index=True,
    )
