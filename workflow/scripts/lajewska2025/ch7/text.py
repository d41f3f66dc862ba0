"""Numbers of section 7.3 and of the comments: workers, power analysis, themes."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from everycell.collections.rating_files import read_table
from everycell.collections.user_studies import read_transparency
from everycell.collections.user_study_materials import read_pilot
from everycell.engine.result_job import ResultJob
from everycell.statistics.anova import anova
from everycell.statistics.power import power_from_f

#: Options of the questionnaire, as (part, column): option -> name in the text. The file numbers
#: the options and does not name them; the card says which names rest on the print.
OPTIONS = {
    ("gender", "gender"): {
        "option_1": "male",
        "option_2": "female",
        "option_4": "other",
        "option_3": "prefer not to say",
    },
    ("age", "age"): {
        "option_1": "18-30",
        "option_2": "31-45",
        "option_3": "46-60",
        "option_4": "60+",
    },
    ("education", "education"): {
        "option_5": "Ph.D. or higher",
        "option_4": "master's degree",
        "option_3": "bachelor's degree",
        "option_2": "high school",
    },
}
#: Condition that the pilot compares with EC3 for each question of the power analysis.
COMPARED = {"explanation quality": "EC7", "presentation mode": "EC4"}

with ResultJob(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    pilot = pd.concat([read_pilot(Path(path)) for path in files.pilot])
    ratings = read_transparency(Path(files.ratings))
    answers = read_table(Path(files.ratings)).drop_duplicates("worker_ids")
    comments = read_table(Path(files.comments))

    rows = [
        ("pilot", "all conditions", "workers", pilot["Worker"].nunique()),
        ("pilot", "all conditions", "hits", pilot["Condition"].nunique()),
    ]
    power = []
    for question, other in COMPARED.items():
        pair = pilot[pilot["Condition"].isin(["EC3", other])]
        f_value = anova(pair, "Usefulness", ["Condition"]).loc["Condition", "F"]
        # The thesis takes F over all ratings, and counts the pilot in workers.
        for unit, size in (("workers", pair["Worker"].nunique()), ("ratings", len(pair))):
            planned = power_from_f(
                f_value, groups=2, per_group=size // 2, alpha=params.alpha, power=params.power
            )
            power.append((question, unit, "F", f_value))
            power += [(question, unit, name, value) for name, value in asdict(planned).items()]
            if unit == "workers":
                needed = planned.per_group_needed
                rows.append(("power analysis", question, "workers_needed", needed))
    per_condition = ratings.groupby("Condition")["Worker"].nunique()
    rows.append(("study", "all conditions", "workers", ratings["Worker"].nunique()))
    rows.append(("study", "one condition", "workers", per_condition.min()))
    for (part, column), names in OPTIONS.items():
        counts = answers[column].value_counts()
        rows += [(part, name, "workers", counts.get(option, 0)) for option, name in names.items()]
    # The unnamed column of the authors' sheet holds remarks in words.
    remarks = comments["Unnamed: 22"].str.strip()
    themes = {
        "explanations helped to see limits": comments[
            "understanding constraints/realizing limitations"
        ]
        == "x",
        "one source or three sentences are too few": comments["single source/only 3 sentences"]
        == "x",
        "unsure how to read the explanations": remarks
        == "no understanding of confidence score origin",
    }
    rows += [("comments", theme, "workers", named.sum()) for theme, named in themes.items()]
    job.write_table(pd.DataFrame(rows, columns=["part", "item", "metric", "value"]))
    job.write_beside(
        pd.DataFrame(power, columns=["question", "unit", "metric", "value"]),
        "power",
        {"F": 3, "cohen_f": 3, "achieved_power": 3, "per_group": 1, "per_group_needed": 0},
    )
