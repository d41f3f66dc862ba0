"""Table 4.11: Pearson correlation of each rating with overall satisfaction."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.statistics.hypothesis_tests import pearson
from everycell.studies.lajewska2025.ch4.ratings import both_studies

SATISFACTION = "Overall Satisfaction"

with ResultJob(snakemake) as job:
    parts = []
    for study, ratings in both_studies(snakemake.input):
        rated_labels = [
            label for label in study.ratings if label not in ("Familiarity", SATISFACTION)
        ]
        correlations = pearson(ratings, [(label, SATISFACTION) for label in rated_labels])
        parts.append(
            pd.DataFrame(
                {
                    "row": correlations["x"],
                    "study": study.name,
                    "metric": "pearson_r_with_overall_satisfaction",
                    "value": correlations["r"],
                }
            )
        )
    job.write_table(pd.concat(parts))
