"""Figure 3.5: individual standard deviations of documents versus one for all documents."""

import numpy as np
import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch3.certainty import spread_of_deviations
from everycell.studies.heuss2025.ch3.curves import PANELS, Curves, advantages
from everycell.studies.heuss2025.ch3.figures import panel_points, trade_off_figure
from everycell.studies.heuss2025.ch3.trade_offs import UNIFORM

with ResultJob(snakemake) as job:
    params = snakemake.params
    names = dict(zip(params.names, snakemake.input.measures, strict=True))
    measured = {name: pd.read_parquet(path) for name, path in names.items()}
    points = pd.concat(
        [
            panel_points({f"{name}, {panel}": frame}, ["PUFR", UNIFORM], *PANELS[panel])
            for name, frame in measured.items()
            for panel in PANELS
        ],
        ignore_index=True,
    )
    job.write_figure(points, trade_off_figure(points))
    parts = []
    for name, frame in measured.items():
        curves = Curves(frame, params.bootstrap, np.random.default_rng(params.seed))
        gains = advantages(curves, list(PANELS), [UNIFORM], params.levels, tuple(params.last))
        gains.insert(0, "ranker", name)
        parts.append(gains)
    job.write_supplement(pd.concat(parts, ignore_index=True), "advantages", {"all": 4})
    scores = zip(params.names, snakemake.input.scores, strict=True)
    spread = spread_of_deviations({name: pd.read_parquet(path) for name, path in scores})
    job.write_supplement(spread, "spread", {"all": 1})
