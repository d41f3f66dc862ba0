"""Figure 2.2: how much less often FELIX shows an outlier, compared with alternatives."""

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch2.simulation import sensitivity_analysis
from everycell.studies.heuss2025.ch2.simulation_figure import outlier_reductions
from everycell.studies.heuss2025.ch2.simulation_sensitivity import (
    compare_with_optimum,
    matrices_and_rules,
)

with ResultJob(snakemake) as job:
    params = snakemake.params
    random = {"bootstrap": params.bootstrap, "seed": params.seed}
    points, changes = sensitivity_analysis(**params.analysis, **random)
    job.write_figure(points, outlier_reductions(points))
    job.write_supplement(changes, "changes", {"all": 1})
    job.write_supplement(matrices_and_rules(**params.choices, **random), "choices", {"all": 1})
    job.write_supplement(compare_with_optimum(**params.bounds, **random), "bounds", {"all": 1})
