"""Table 4.11: Pearson correlation of each rating with overall satisfaction."""

import pandas as pd
from job import Job
from lajewska2025_ch4 import both_studies

from everycell.statistics.hypothesis_tests import pearson

SATISFACTION = "Overall Satisfaction"

with Job(snakemake) as job:
    parts = []
    for study, ratings in both_studies(snakemake.input):
        judged = [label for label in study.ratings if label not in ("Familiarity", SATISFACTION)]
        found = pearson(ratings, [(label, SATISFACTION) for label in judged])
        parts.append(
            pd.DataFrame(
                {
                    "row": found["x"],
                    "study": study.name,
                    "metric": "pearson_r_with_overall_satisfaction",
                    "value": found["r"],
                }
            )
        )
    job.write_table(pd.concat(parts))
