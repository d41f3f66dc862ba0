"""Surrogate data for Table 4.8: simulated studies with a planted effect.

The table is the ANOVA of one simulated study of each kind. The supplementary figure shows how often
each term is significant in many such studies, by size of the planted effect.
"""

import numpy as np

from everycell.jobs.result_job import ResultJob
from everycell.statistics.effect_size import EFFECT_SCALES
from everycell.studies.lajewska2025.ch4.simulation import simulate
from everycell.studies.lajewska2025.rejection_figure import write_rejection_figure

with ResultJob(snakemake) as job:
    params = snakemake.params
    table, rates = simulate(
        params.planted,
        params.effects,
        studies=params.studies,
        alpha=params.alpha,
        scale=EFFECT_SCALES[params.scale],
        rng=np.random.default_rng(params.seed),
    )
    job.write_table(table)
    write_rejection_figure(job, rates, alpha=params.alpha, panel="panel")
