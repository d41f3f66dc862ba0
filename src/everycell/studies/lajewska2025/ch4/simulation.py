"""Simulated studies of chapter 4 with known effects: surrogate data for Table 4.8.

The answerability study has no planted effect. In the viewpoints study, the diversity of a response
affects all ratings, and its balance also affects the ratings of balance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from everycell.statistics.anova_frames import anova_cells
from everycell.statistics.effect_size import EffectScale
from everycell.statistics.simulation import rejection_rates, simulate_ratings
from everycell.studies.lajewska2025.designs import answerability_study, viewpoints_study

#: Study, published names of its factors, and rating -> factors with an effect on it.
PLANTED = {
    "Answerability": (
        answerability_study(),
        {"factual_correctness": "Contr. Fact. Corr.", "source": "Contr. Source"},
        {"Factual Correctness": (), "Conf. in Answer Acc.": (), "Overall Satisfaction": ()},
    ),
    "Viewpoints": (
        viewpoints_study(),
        {"diversity": "Contr. Diversity", "balance": "Contr. Balance"},
        {
            "Diversity": ("diversity",),
            "Transparency": ("diversity",),
            "Balance": ("diversity", "balance"),
            "Overall Satisfaction": ("diversity",),
        },
    ),
}


def simulate(
    planted: float,
    effects: Sequence[float],
    *,
    studies: int,
    alpha: float,
    scale: EffectScale,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """ANOVA cells of one simulated study per design, and rejection rates by effect."""
    tables, rates = [], []
    for name, (study, factors, factors_by_rating) in PLANTED.items():
        ratings = study.design.rename(columns=factors)
        for rating, planted_factors in factors_by_rating.items():
            ratings[rating] = simulate_ratings(
                study, dict.fromkeys(planted_factors, planted), n_studies=1, rng=rng
            )[:, 0]
        cells = anova_cells(ratings, list(factors_by_rating), list(factors.values()), scale)
        cells.insert(0, "study", name)
        tables.append(cells)
        rates += [
            rejection_rates(study, effects, factor=factor, n_studies=studies, alpha=alpha, rng=rng)
            for factor in factors
        ]
    power = pd.concat(rates, ignore_index=True)
    power["panel"] = (
        power["study"] + ", planted in " + power["planted_factor"].str.replace("_", " ")
    )
    return pd.concat(tables, ignore_index=True), power
