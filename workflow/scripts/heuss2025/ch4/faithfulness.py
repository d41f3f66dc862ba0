"""Figure 4.4: preservation and deletion checks by size of the explanations."""

import numpy as np
import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch4.checks_figure import checks_figure
from everycell.studies.heuss2025.ch4.faithfulness import Means, mean_attributions

with ResultJob(snakemake) as job:
    inputs, params = snakemake.input, snakemake.params
    checked, attributed = (
        {name: pd.read_parquet(path) for name, path in zip(params.names, paths, strict=True)}
        for paths in (inputs.checks, inputs.attributions)
    )
    means = Means(checked, params.bootstrap, np.random.default_rng(job.seed))
    points = means.curves()
    # The figure omits the sum over documents, as in the thesis; the table of points has it.
    plotted = points[points["measure"] != "Exposure difference"]
    job.write_figure(points, checks_figure(plotted))
    job.write_supplement(means.differences(), "differences", {"all": 3})
    job.write_supplement(means.ratios(), "ratios", {"all": 2})
    job.write_supplement(mean_attributions(attributed, "RShapK"), "features", {"all": 3})
