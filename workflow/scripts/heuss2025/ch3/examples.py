"""Figure 3.7: two lists before and after PUFR, and how often methods change (un)certain lists."""

import numpy as np
import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch3.certainty import change_shares, example_lists
from everycell.studies.heuss2025.ch3.figures import density_figure
from everycell.studies.heuss2025.ch3.inputs import read_lists
from everycell.studies.heuss2025.ch3.operating_points import settings_by_loss

with ResultJob(snakemake) as job:
    params = snakemake.params
    lists = read_lists(snakemake.input.scores, snakemake.input.counts, snakemake.input.qrels)
    measured = pd.read_parquet(snakemake.input.measures)
    [strengths] = settings_by_loss(measured, [params.loss]).values()
    points = example_lists(lists, strengths["PUFR"], params.methods["protected_from"])
    job.write_figure(points, density_figure(points))
    changed = change_shares(
        lists,
        strengths,
        **params.methods,
        samples=params.bootstrap,
        rng=np.random.default_rng(params.seed),
    )
    job.write_supplement(changed, "changed", {"all": 1})
