"""Chapter 7 of lajewska2025: whether explanations are useful.

One function per rule of ``ch7.smk``; `ch7_usefulness` has Figure 7.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.csv_files import read_table
from everycell.jobs.result_job import ResultJob
from everycell.statistics.anova import (
    TIMES,
    anova_cells,
    cluster_means_anova,
    intraclass_correlation,
    random_intercept_p,
)
from everycell.statistics.anova import (
    anova as anova_table,
)
from everycell.statistics.effect_size import EFFECT_SCALES, EffectScale
from everycell.statistics.power import power_from_f
from everycell.statistics.simulation import rejection_rates, simulate_ratings
from papers.lajewska2025.ch7_usefulness import MODE, QUALITY
from papers.lajewska2025.designs import transparency_study
from papers.lajewska2025.rejection_figure import write_rejection_figure
from papers.lajewska2025.user_study_data import (
    EXPLANATION_RATINGS,
    RESPONSE_RATINGS,
    TRANSPARENCY_FACTORS,
    failed_checks,
    read_pilot,
    read_transparency,
)

#: Factors that the tables report again, for the conditions with explanations only.
WITH_EXPLANATION = (QUALITY, MODE)
#: Key columns of Tables 7.4 and 7.5.
KEYS = ["row", "conditions", "dependent_variable", "metric"]
#: Table 7.x -> factor -> its name there, if it differs from Table 7.4.
FACTOR_NAMES = {
    "5": {
        "Conv. Agent Fam.": "Conv. Agent Familiarity",
        "Search w/ Agent Freq.": "Search with Agent Freq.",
    },
    "6": {"Interest In Topic": "Interest in Topic"},
}
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
PILOT_COMPARISONS = {"explanation quality": "EC7", "presentation mode": "EC4"}
#: Theme of comments -> column of the authors' sheet, entry. The unnamed column has remarks.
THEMES = {
    "explanations helped to see limits": ("understanding constraints/realizing limitations", "x"),
    "one source or three sentences are too few": ("single source/only 3 sentences", "x"),
    "unsure how to read the explanations": (
        "Unnamed: 22",
        "no understanding of confidence score origin",
    ),
}
#: Factor of the design -> its name in Table 7.4.
FACTORS = {
    "response_quality": "Response Quality",
    "explanation_quality": "Explanation Quality",
    "presentation_mode": "Presentation Mode",
    "query": "Query",
}
#: Factor -> ratings on which it has an effect in the thesis (Table 7.4).
PLANTED = {
    "response_quality": {"Correctness"},
    "explanation_quality": set(RESPONSE_RATINGS)
    - {"Correctness", "Conciseness", "Serendipity", "Factuality"},
    "explanation": {"Usefulness", "Relevance", "Conciseness", "Fairness"},
}


def comparisons(ratings: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Conditions, ratings and factor of each row of Tables 7.4 and 7.5."""
    explained = ratings[ratings["Explanation Quality"] != "None"]
    yield from (("EC1-EC10", ratings, factor) for factor in TRANSPARENCY_FACTORS)
    yield from (("EC1-EC8", explained, factor) for factor in WITH_EXPLANATION)


def one_way_table(
    ratings: pd.DataFrame, responses: Sequence[str], scale: EffectScale
) -> pd.DataFrame:
    """Tables 7.4 and 7.5 as the thesis computes them: one-way ANOVA of individual ratings."""
    parts = [
        anova_cells(rows, responses, [factor], scale).assign(row=factor, conditions=conditions)
        for conditions, rows, factor in comparisons(ratings)
    ]
    return pd.concat(parts, ignore_index=True)[[*KEYS, "value"]]


def worker_table(ratings: pd.DataFrame, responses: Sequence[str]) -> pd.DataFrame:
    """Tables 7.4 and 7.5 with tests that treat the ratings of a worker as dependent.

    Each worker saw one condition and rated ten responses, so ratings of a worker are correlated.
    """
    cells: list[tuple[str, str, str, str, float]] = []
    for conditions, rows, factor in comparisons(ratings):
        workers = rows.groupby("Worker")
        constant_factor = workers[factor].nunique().max() == 1
        for response in responses:
            constant_rating = workers[response].nunique().max() == 1
            values = {"p ratings": float(anova_table(rows, response, [factor]).loc[factor, "p"])}
            if constant_factor:
                means = cluster_means_anova(rows, response, factor, "Worker")
                values["p worker means"] = float(means["p"])
            if not constant_rating:
                values["p mixed model"] = random_intercept_p(rows, response, factor, "Worker")
            values["ICC"] = intraclass_correlation(rows[response], rows["Worker"])
            cells += [(factor, conditions, response, name, p) for name, p in values.items()]
    return pd.DataFrame(cells, columns=[*KEYS, "value"])


def anova(job: ResultJob) -> None:
    """Tables 7.4 and 7.5: ANOVA of ratings of responses and explanations."""
    number = job.wildcards.number
    ratings = read_transparency(Path(job.input.ratings))
    responses = list(RESPONSE_RATINGS if number == "4" else EXPLANATION_RATINGS)
    names = FACTOR_NAMES.get(number, {})
    table = one_way_table(ratings, responses, EFFECT_SCALES[job.params.scale])
    job.write_table(table.replace({"row": names}))
    by_worker = worker_table(ratings, responses).replace({"row": names})
    job.write_supplement(by_worker, "by_worker", dict.fromkeys(by_worker["metric"].unique(), 3))


def interactions(job: ResultJob) -> None:
    """Table 7.6: interactions of two factors in the ratings of responses and explanations."""
    ratings = read_transparency(Path(job.input.ratings))
    table = interaction_table(ratings, EFFECT_SCALES[job.params.scale])
    job.write_table(table.replace({"row": FACTOR_NAMES["6"]}))


def interaction_table(ratings: pd.DataFrame, scale: EffectScale) -> pd.DataFrame:
    """Table 7.6: interactions of all factors with the query, and of three with familiarity."""
    explanation = {label: f"Explanation: {label}" for label in EXPLANATION_RATINGS}
    ratings = ratings.rename(columns=explanation)
    responses = ["Usefulness", "Satisfaction", *explanation.values()]
    design_factors = ("Response Quality", "Explanation Quality", "Presentation Mode")
    pairs = [(factor, "Query") for factor in TRANSPARENCY_FACTORS if factor != "Query"]
    pairs += [(factor, "Topic Familiarity") for factor in design_factors]
    parts = []
    for factor, moderator in pairs:
        cells = anova_cells(ratings, responses, [factor, moderator], scale)
        cells = cells[cells["independent_variable"] == f"{factor}{TIMES}{moderator}"]
        parts.append(cells.assign(row=factor, interaction_with=moderator))
    keys = ["row", "interaction_with", "dependent_variable", "metric", "value"]
    return pd.concat(parts, ignore_index=True)[keys]


def power_analysis(pilot: pd.DataFrame, alpha: float, power: float) -> pd.DataFrame:
    """Effect in the pilot and planned sample sizes, by unit of analysis.

    The thesis computes F over all ratings, but counts workers as the sample size of the pilot.
    """
    rows = []
    for question, condition in PILOT_COMPARISONS.items():
        pair = pilot[pilot["Condition"].isin(["EC3", condition])]
        f_value = anova_table(pair, "Usefulness", ["Condition"]).loc["Condition", "F"]
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
    rows: list[tuple[str, str, str, float]] = [
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


def failing_workers(failed: pd.Series, workers: pd.Series, checks: int) -> pd.DataFrame:
    """Number of workers by the number of attention checks that they failed, including zero."""
    counts = failed.groupby(workers).sum().value_counts().reindex(range(checks + 1), fill_value=0)
    return pd.DataFrame(
        {"failed checks": counts.index, "metric": "workers", "value": counts.to_numpy()}
    )


def text(job: ResultJob) -> None:
    """Numbers of section 7.3 and of the comments: workers, power analysis, themes."""
    files, params = job.input, job.params
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
    attention = failing_workers(
        failed_checks(Path(files.ratings)), ratings["Worker"], params.pairs_per_hit
    )
    job.write_supplement(attention, "attention", {"workers": 0})
    job.write_supplement(
        power,
        "power",
        {"F": 3, "cohen_f": 3, "achieved_power": 3, "per_group": 1, "per_group_needed": 0},
    )


def simulation(job: ResultJob) -> None:
    """Surrogate data for Table 7.4: one simulated study, and power by planted effect."""
    params = job.params
    rng = np.random.default_rng(params.seed)
    study = transparency_study()
    ratings = study.design.rename(columns=FACTORS)
    for rating in RESPONSE_RATINGS:
        effects = {
            factor: params.planted for factor, affected in PLANTED.items() if rating in affected
        }
        ratings[rating] = simulate_ratings(study, effects, n_studies=1, rng=rng)[:, 0]
    explained = ratings[ratings[QUALITY] != "None"]
    scale = EFFECT_SCALES[params.scale]
    tables = [
        anova_cells(rows, list(RESPONSE_RATINGS), [factor], scale).assign(
            row=factor, conditions=conditions
        )
        for conditions, rows, factors in (
            ("EC1-EC10", ratings, FACTORS.values()),
            ("EC1-EC8", explained, WITH_EXPLANATION),
        )
        for factor in factors
    ]
    job.write_table(pd.concat(tables, ignore_index=True)[[*KEYS, "value"]])
    worker_sd = params.worker_sd
    rates = [
        rejection_rates(
            study,
            params.effects,
            factor=factor,
            analysis=factor.replace("_", " "),
            n_studies=params.studies,
            alpha=params.alpha,
            worker_sd=deviation,
            rng=rng,
        ).assign(ratings=name)
        for name, deviation in (
            ("independent ratings", 0.0),
            (f"ten correlated ratings per worker (spread {worker_sd:g})", worker_sd),
        )
        for factor in ("response_quality", "explanation_quality", "presentation_mode")
    ]
    write_rejection_figure(
        job, pd.concat(rates, ignore_index=True), alpha=params.alpha, panel="ratings"
    )
