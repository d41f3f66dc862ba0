"""Surrogate data for Table 7.4: simulated studies with a planted effect.

The table is the one-way ANOVA of one simulated study. The supplementary figure shows how often each
factor is significant in many such studies.
"""

import numpy as np

from everycell.jobs.result_job import ResultJob
from everycell.statistics.effect_size import EFFECT_SCALES
from everycell.studies.lajewska2025.ch7.simulation import simulated_power, simulated_study
from papers.lajewska2025.rejection_figure import write_rejection_figure

with ResultJob(snakemake) as job:
    params = snakemake.params
    rng = np.random.default_rng(params.seed)
    job.write_table(simulated_study(params.planted, EFFECT_SCALES[params.scale], rng))
    rates = simulated_power(
        params.effects,
        studies=params.studies,
        alpha=params.alpha,
        worker_sd=params.worker_sd,
        rng=rng,
    )
    write_rejection_figure(job, rates, alpha=params.alpha, panel="ratings")
