"""Figure 3.6: measures by the strength of each method."""

import numpy as np
import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch3.curves import Curves, changes, order_violations
from everycell.studies.heuss2025.ch3.figures import control_figure
from everycell.studies.heuss2025.ch3.trade_offs import METRICS

with ResultJob(snakemake) as job:
    params = snakemake.params
    curves = Curves(
        pd.read_parquet(snakemake.input.measures),
        params.bootstrap,
        np.random.default_rng(params.seed),
    )
    rows = [
        (method, metric, alpha, value)
        for method in params.methods
        for metric in METRICS
        for alpha, value in zip(
            *(part if part.ndim == 1 else part[0] for part in curves.means(method, metric)),
            strict=True,
        )
    ]
    points = pd.DataFrame(rows, columns=["method", "metric", "alpha", "value"])
    job.write_figure(points, control_figure(points))
    job.write_supplement(order_violations(curves, params.methods), "against", {"all": 5})
    spans = [tuple(span) for span in params.spans]
    job.write_supplement(changes(curves, "PUFR", spans), "changes", {"all": 4})
