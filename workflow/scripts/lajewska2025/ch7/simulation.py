"""Surrogate data for Table 7.4: simulated studies with a planted effect.

The table is the one-way ANOVA of one simulated study, where effects of one size are planted in
the ratings that the paper finds moved: by the quality of the response, by noise in the
explanations, and by their presence. The
supplementary figure shows how often each factor is significant over many such studies.
"""

import numpy as np
import pandas as pd

from everycell.collections.user_studies import RESPONSE_RATINGS
from everycell.engine.result_job import ResultJob
from everycell.statistics.anova_frames import anova_cells
from everycell.statistics.effect_size import EFFECT_SCALES
from everycell.statistics.simulation import rejection_rates, simulate_ratings
from everycell.studies.lajewska2025.designs import transparency_study
from everycell.studies.lajewska2025.rejection_figure import write_rejection_figure

FACTORS = {
    "response_quality": "Response Quality",
    "explanation_quality": "Explanation Quality",
    "presentation_mode": "Presentation Mode",
    "query": "Query",
}
#: What moves which rating in the paper (Table 7.4): by these the simulated study is planted.
PLANTED = {
    "response_quality": {"Correctness"},
    "explanation_quality": set(RESPONSE_RATINGS)
    - {"Correctness", "Conciseness", "Serendipity", "Factuality"},
    "explanation": {"Usefulness", "Relevance", "Conciseness", "Fairness"},
}

with ResultJob(snakemake) as job:
    params = snakemake.params
    rng = np.random.default_rng(params.seed)
    study = transparency_study()
    ratings = study.design.rename(columns=FACTORS)
    for rating in RESPONSE_RATINGS:
        planted = {factor: params.planted for factor, moved in PLANTED.items() if rating in moved}
        ratings[rating] = simulate_ratings(study, planted, n_studies=1, rng=rng)[:, 0]
    explained = ratings[ratings["Explanation Quality"] != "None"]
    scale = EFFECT_SCALES[params.scale]
    parts = [
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
    job.write_table(pd.concat(parts, ignore_index=True)[keys])

    power = pd.concat(
        [
            rejection_rates(
                study,
                params.effects,
                factor=name,
                analysis=name.replace("_", " "),
                n_studies=params.studies,
                alpha=params.alpha,
                worker_sd=spread,
                rng=rng,
            ).assign(ratings=ratings_are)
            for ratings_are, spread in (
                ("independent ratings", 0.0),
                (f"ten alike ratings a worker (spread {params.worker_sd:g})", params.worker_sd),
            )
            for name in ("response_quality", "explanation_quality", "presentation_mode")
        ],
        ignore_index=True,
    )
    write_rejection_figure(job, power, alpha=params.alpha, panel="ratings")
