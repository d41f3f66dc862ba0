"""Surrogate data for Table 4.8: simulated studies with a planted effect.

The table is the ANOVA of one simulated study of each kind. Nothing is planted in the
answerability study; in the viewpoints study all ratings follow the diversity of the response, and
the ratings of balance its balance too. The supplementary figure shows how often each term is
significant over many such studies, for each size of the planted effect.
"""

import numpy as np
import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.statistics.anova_frames import anova_cells
from everycell.statistics.effect_size import EFFECT_SCALES
from everycell.statistics.simulation import rejection_rates, simulate_ratings
from everycell.studies.lajewska2025.designs import answerability_study, viewpoints_study
from everycell.studies.lajewska2025.rejection_figure import write_rejection_figure

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

with ResultJob(snakemake) as job:
    params = snakemake.params
    rng = np.random.default_rng(params.seed)
    tables, rates = [], []
    for name, (study, factors, planted) in PLANTED.items():
        ratings = study.design.rename(columns=factors)
        for rating, moved_by in planted.items():
            effects = dict.fromkeys(moved_by, params.planted)
            ratings[rating] = simulate_ratings(study, effects, n_studies=1, rng=rng)[:, 0]
        cells = anova_cells(
            ratings, list(planted), list(factors.values()), EFFECT_SCALES[params.scale]
        )
        cells.insert(0, "study", name)
        tables.append(cells)
        for factor in factors:
            rates.append(
                rejection_rates(
                    study,
                    params.effects,
                    factor=factor,
                    n_studies=params.studies,
                    alpha=params.alpha,
                    rng=rng,
                )
            )
    job.write_table(pd.concat(tables, ignore_index=True))
    power = pd.concat(rates, ignore_index=True)
    power["panel"] = (
        power["study"] + ", planted in " + power["planted_factor"].str.replace("_", " ")
    )
    write_rejection_figure(job, power, alpha=params.alpha, panel="panel")
