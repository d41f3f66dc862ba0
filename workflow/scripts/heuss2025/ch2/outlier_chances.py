"""Section 2.7: probability that a list of ten random items contains an outlier."""

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch2.outlier_chances import outlier_chances

with ResultJob(snakemake) as job:
    params = snakemake.params
    chances = outlier_chances(params.lists, params.length, job.seed)
    job.write_table(chances.drop(columns="standard_error"))
    errors = chances.assign(metric="standard error", value=chances["standard_error"])
    job.write_supplement(errors.drop(columns="standard_error"), "errors", {"all": 3})
