"""Numbers stated in section 7.3 and about the comments: workers, power analysis, themes."""

from pathlib import Path

import pandas as pd

from everycell.base.csv_files import read_table
from everycell.collections.user_studies import read_pilot, read_transparency
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch7.text_numbers import (
    power_analysis,
    text_numbers,
    themes_by_condition,
)

with ResultJob(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    pilot = pd.concat([read_pilot(Path(path)) for path in files.pilot])
    power = power_analysis(pilot, params.alpha, params.power)
    ratings = read_transparency(Path(files.ratings))
    answers = read_table(Path(files.ratings)).drop_duplicates("worker_ids")
    comments = read_table(Path(files.comments))
    job.write_table(text_numbers(pilot, power, ratings, answers, comments))
    familiarity = ratings["Topic Familiarity"].astype(int)
    summary = {"mean": familiarity.mean(), "median": familiarity.median()}
    job.write_supplement(
        pd.DataFrame(
            [("Topic Familiarity", metric, value) for metric, value in summary.items()],
            columns=["rating", "metric", "value"],
        ),
        "familiarity",
        {"mean": 2, "median": 1},
    )
    job.write_supplement(themes_by_condition(comments), "themes", {"workers": 0})
    job.write_supplement(
        power,
        "power",
        {"F": 3, "cohen_f": 3, "achieved_power": 3, "per_group": 1, "per_group_needed": 0},
    )
