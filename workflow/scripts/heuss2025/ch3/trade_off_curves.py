"""Figures 3.3 and 3.4: utility against fairness of three methods."""

import numpy as np
import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch3.curves import PANELS, Curves, advantages
from everycell.studies.heuss2025.ch3.figures import panel_points, trade_off_figure

with ResultJob(snakemake) as job:
    params = snakemake.params
    names = dict(zip(params.names, snakemake.input.measures, strict=True))
    measured = {name: pd.read_parquet(path) for name, path in names.items()}
    points = panel_points(measured, ["PUFR", *params.others], *PANELS[params.panel])
    job.write_figure(points, trade_off_figure(points))
    curves = Curves(
        next(iter(measured.values())), params.bootstrap, np.random.default_rng(params.seed)
    )
    gains = advantages(curves, [params.panel], params.others, params.levels, tuple(params.last))
    job.write_supplement(gains, "advantages", {"all": 4})
