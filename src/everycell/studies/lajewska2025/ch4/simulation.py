"""Simulated studies of chapter 4 with a planted effect: surrogate data for Table 4.8.

Nothing is planted in the answerability study; in the viewpoints study all ratings follow the
diversity of the response, and the ratings of balance its balance too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from everycell.statistics.anova_frames import anova_cells
from everycell.statistics.effect_size import EffectScale
from everycell.statistics.simulation import rejection_rates, simulate_ratings
from everycell.studies.lajewska2025.designs import answerability_study, viewpoints_study

#: Study, published names of its factors, and the factors that move each rating.
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
    """ANOVA of one simulated study of each kind, and rejection rates of many by planted effect."""
    tables, rates = [], []
    for name, (study, factors, moved) in PLANTED.items():
        ratings = study.design.rename(columns=factors)
        for rating, moved_by in moved.items():
            ratings[rating] = simulate_ratings(
                study, dict.fromkeys(moved_by, planted), n_studies=1, rng=rng
            )[:, 0]
        cells = anova_cells(ratings, list(moved), list(factors.values()), scale)
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
