"""Numbers in the text of chapter 7: workers, power analysis, themes of comments."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd

from everycell.statistics.anova import anova
from everycell.statistics.power import power_from_f

Row = tuple[str, str, str, float]

#: Options of the questionnaire: (part, column) -> option -> name in the text. The file only numbers
#: the options; the record states which names are inferred from the published numbers.
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
#: Question of the power analysis -> condition that the pilot compares with EC3.
COMPARED = {"explanation quality": "EC7", "presentation mode": "EC4"}
#: Theme of comments -> column of the authors' sheet, entry. The unnamed column has remarks.
THEMES = {
    "explanations helped to see limits": ("understanding constraints/realizing limitations", "x"),
    "one source or three sentences are too few": ("single source/only 3 sentences", "x"),
    "unsure how to read the explanations": (
        "Unnamed: 22",
        "no understanding of confidence score origin",
    ),
}


def power_analysis(pilot: pd.DataFrame, alpha: float, power: float) -> pd.DataFrame:
    """Effect in the pilot and planned sample sizes, by unit of analysis.

    The thesis computes F over all ratings, but counts workers as the sample size of the pilot.
    """
    rows = []
    for question, condition in COMPARED.items():
        pair = pilot[pilot["Condition"].isin(["EC3", condition])]
        f_value = anova(pair, "Usefulness", ["Condition"]).loc["Condition", "F"]
        for unit, size in (("workers", pair["Worker"].nunique()), ("ratings", len(pair))):
            planned = power_from_f(f_value, groups=2, per_group=size // 2, alpha=alpha, power=power)
            rows.append((question, unit, "F", f_value))
            rows += [(question, unit, name, value) for name, value in asdict(planned).items()]
    return pd.DataFrame(rows, columns=["question", "unit", "metric", "value"])


def text_numbers(
    pilot: pd.DataFrame,
    power: pd.DataFrame,
    ratings: pd.DataFrame,
    answers: pd.DataFrame,
    comments: pd.DataFrame,
) -> pd.DataFrame:
    """Numbers in the text; `answers` has one row per worker, `comments` are coded."""
    rows: list[Row] = [
        ("pilot", "all conditions", "workers", pilot["Worker"].nunique()),
        ("pilot", "all conditions", "hits", pilot["Condition"].nunique()),
    ]
    planned = power[(power["unit"] == "workers") & (power["metric"] == "per_group_needed")]
    rows += [
        ("power analysis", question, "workers_needed", int(value))
        for question, value in zip(planned["question"], planned["value"], strict=True)
    ]
    per_condition = ratings.groupby("Condition")["Worker"].nunique()
    rows.append(("study", "all conditions", "workers", ratings["Worker"].nunique()))
    rows.append(("study", "one condition", "workers", per_condition.min()))
    for (part, column), names in OPTIONS.items():
        counts = answers[column].value_counts()
        rows += [(part, name, "workers", counts.get(option, 0)) for option, name in names.items()]
    rows += [
        ("comments", theme, "workers", (comments[column].str.strip() == entry).sum())
        for theme, (column, entry) in THEMES.items()
    ]
    return pd.DataFrame(rows, columns=["part", "item", "metric", "value"])


def themes_by_condition(comments: pd.DataFrame) -> pd.DataFrame:
    """Number of workers per condition whose comments have each theme, including zero."""
    conditions = sorted(comments["answers_ids"].unique(), key=lambda name: int(name[2:]))
    rows = [
        (theme, condition, "workers", int((own[column].str.strip() == entry).sum()))
        for theme, (column, entry) in THEMES.items()
        for condition in conditions
        for own in [comments[comments["answers_ids"] == condition]]
    ]
    return pd.DataFrame(rows, columns=["theme", "condition", "metric", "value"])
