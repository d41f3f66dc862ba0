"""Chapter 4 of lajewska2025: whether users notice the limitations of a response.

One function per rule of ``ch4.smk``.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.render.figures import box_panels
from everycell.statistics.anova import anova as anova_table
from everycell.statistics.anova import anova_cells, supported_cells
from everycell.statistics.effect_size import EFFECT_SCALES
from everycell.statistics.hypothesis_tests import pearson
from everycell.statistics.power import power_from_f
from everycell.statistics.simulation import rejection_rates, simulate_ratings
from papers.lajewska2025.counts import exact_quotient
from papers.lajewska2025.designs import answerability_study, viewpoints_study
from papers.lajewska2025.rejection_figure import write_rejection_figure
from papers.lajewska2025.user_study_data import (
    ANSWERABILITY,
    VIEWPOINTS,
    failed_checks,
    read_comment_counts,
    read_expert_scores,
    read_response_limitations,
)

STUDIES = {"answerability": ANSWERABILITY, "viewpoints": VIEWPOINTS}
SATISFACTION = "Overall Satisfaction"
#: Names that differ from those in Table 4.8: (table, factor, rating) -> published name.
PUBLISHED = {
    ("10", "Familiarity", "Factual Correctness"): "Fact. Corr.",
    ("12", "Query", "Factual Correctness"): "Factual Corr.",
    ("12", "Familiarity", "Transparency"): "transparency",
}
HIGH, LOW = (3, 4), (1, 2)
#: Theme of the text -> (theme of the file, consistent ratings: high for praise, low for criticism).
THEMES = {
    "Answerability": {
        "coherence": ("coherence/fluency/naturalness/logical/detailed", HIGH),
        "factual correctness": ("factual correctness", HIGH),
        "completeness": ("complete information", HIGH),
        "agreement": ("agreement with the answer", HIGH),
        "source given": ("presence of source", HIGH),
        "credible source": ("source credibility", HIGH),
        "source missing": ("lack of source", LOW),
        "source invalid": ("invalid source", LOW),
        "information missing": ("missing information/incomplete information", LOW),
        "usefulness": ("usefulness", HIGH),
        "subjectivity": ("bias/subjectivity", LOW),
    },
    "Viewpoints": {
        "coherence": ("coherence/fluency/naturalness/logical/detailed", HIGH),
        "diversity": ("diversity/multiple viewpoints", HIGH),
        "balance": ("balance of the answer", HIGH),
        "no bias": ("unbiased", HIGH),
        "completeness": ("complete information", HIGH),
        "agreement": ("agreement with the answer", HIGH),
        "bias": ("biased", LOW),
        "lack of diversity": ("single viewpoint/lack of diversity", LOW),
        "lack of balance": ("imbalanced answer", LOW),
        "source missing": ("no source", LOW),
    },
}
#: Study, published names of its factors, and rating -> factors with an effect on it.
PLANTED = {
    "Answerability": (
        answerability_study(),
        {"factual_correctness": "Contr. Fact. Corr.", "source": "Contr. Source"},
        dict.fromkeys(("Factual Correctness", "Conf. in Answer Acc.", SATISFACTION), ()),
    ),
    "Viewpoints": (
        viewpoints_study(),
        {"diversity": "Contr. Diversity", "balance": "Contr. Balance"},
        {
            "Diversity": ("diversity",),
            "Transparency": ("diversity",),
            "Balance": ("diversity", "balance"),
            SATISFACTION: ("diversity",),
        },
    ),
}


def both_studies(job: ResultJob):
    """Both studies with their ratings, from the inputs `answerability` and `viewpoints`."""
    for name, study in STUDIES.items():
        yield study, read_response_limitations(Path(job.input[name]), study)


def anova(job: ResultJob) -> None:
    """Tables 4.8 (two-way), 4.9 (with query), 4.10 (with familiarity) and 4.12 (one-way)."""
    number = job.wildcards.number
    scale = EFFECT_SCALES[job.params.scale]
    # Three-way tables contain only terms with their third factor.
    third = {"9": "Query", "10": "Familiarity"}.get(number)
    designs = []
    for study, ratings in both_studies(job):
        rated = [label for label in study.ratings if label != "Familiarity"]
        if number == "12":
            designs.append((study, ratings, ["Familiarity", *rated], ["Query"]))
            designs.append((study, ratings, rated, ["Familiarity"]))
        else:
            factors = [*study.conditions, *filter(None, [third])]
            designs.append((study, ratings, rated, factors))

    def table(cells) -> pd.DataFrame:
        parts = []
        for study, ratings, responses, factors in designs:
            part = cells(ratings, responses, factors, scale, containing=third)
            part.insert(0, "study", study.name)
            name = (number, third or factors[0])
            part["dependent_variable"] = [
                PUBLISHED.get((*name, rating), rating) for rating in part["dependent_variable"]
            ]
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    job.write_table(table(anova_cells))
    if number != "12":
        decimals = {"df": 0, "F": 3, "p_value": 3, "omega_squared": 3}
        job.write_supplement(table(supported_cells), "supported", decimals)


def simulation(job: ResultJob) -> None:
    """Surrogate data for Table 4.8: one simulated study per design, and power by planted effect."""
    params = job.params
    rng = np.random.default_rng(params.seed)
    options = {"n_studies": params.studies, "alpha": params.alpha, "rng": rng}
    tables, rates = [], []
    for name, (study, factors, planted) in PLANTED.items():
        ratings = study.design.rename(columns=factors)
        for rating, causes in planted.items():
            effects = dict.fromkeys(causes, params.planted)
            ratings[rating] = simulate_ratings(study, effects, n_studies=1, rng=rng)[:, 0]
        scale = EFFECT_SCALES[params.scale]
        cells = anova_cells(ratings, list(planted), list(factors.values()), scale)
        cells.insert(0, "study", name)
        tables.append(cells)
        rates += [
            rejection_rates(study, params.effects, factor=factor, **options) for factor in factors
        ]
    power = pd.concat(rates, ignore_index=True)
    factor = power["planted_factor"].str.replace("_", " ")
    power["panel"] = power["study"] + ", planted in " + factor
    job.write_table(pd.concat(tables, ignore_index=True))
    write_rejection_figure(job, power, alpha=params.alpha, panel="panel")


def _correlations(job: ResultJob) -> pd.DataFrame:
    """Pearson correlation of each rating with overall satisfaction, in both studies."""
    parts = []
    for study, ratings in both_studies(job):
        labels = [label for label in study.ratings if label not in ("Familiarity", SATISFACTION)]
        cells = pearson(ratings, [(label, SATISFACTION) for label in labels])
        cells = cells.rename(columns={"x": "row", "r": "value"}).assign(
            study=study.name, metric="pearson_r_with_overall_satisfaction"
        )
        parts.append(cells[["row", "study", "metric", "value"]])
    return pd.concat(parts)


def correlations(job: ResultJob) -> None:
    """Table 4.11: Pearson correlation of each rating with overall satisfaction."""
    job.write_table(_correlations(job))


def correlation_bounds(job: ResultJob) -> None:
    """Section 4.4.2: the least and the greatest correlation of Table 4.11."""
    values = _correlations(job)["value"]
    bounds = {"lower": values.min(), "upper": values.max()}
    rows = [
        (f"{name} bound of correlations with satisfaction", "r", value)
        for name, value in bounds.items()
    ]
    job.write_table(pd.DataFrame(rows, columns=["claim", "metric", "value"]))


def ratings_by_query(job: ResultJob) -> None:
    """Figure 4.3: ratings of both studies by query."""
    observed = pd.concat(
        ratings.melt("Query", list(study.ratings), "dimension", "rating").assign(study=study.name)
        for study, ratings in both_studies(job)
    )
    observed["query"] = observed["Query"].astype(int)
    observed = observed.sort_values(["study", "query"], kind="stable")
    keys = ["study", "dimension", "query", "rating"]
    plotted = observed.groupby(keys, sort=False).size().rename("value").reset_index()
    panels = [f"{study.name}: {label}" for study in STUDIES.values() for label in study.ratings]
    panel = observed["study"] + ": " + observed["dimension"]
    observed["panel"] = pd.Categorical(panel, panels, ordered=True)
    job.write_supplement(summarise_ratings(observed), "summary", {"median": 1, "percent high": 1})
    figure = box_panels(
        observed.sort_values(["panel", "query"], kind="stable"),
        group="query",
        panel="panel",
        value="rating",
        group_label="Query",
        value_label="Rating (1 to 4)",
    )
    job.write_figure(plotted, figure)


def summarise_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Median and share of ratings of 3 or 4 per study, dimension and query, and over queries."""
    over_queries = ratings.assign(query="all")
    groups = pd.concat([ratings.astype({"query": str}), over_queries]).groupby(
        ["study", "dimension", "query"], sort=False
    )["rating"]
    summary = pd.DataFrame(
        {"median": groups.median(), "percent high": 100 * groups.agg(lambda own: (own >= 3).mean())}
    )
    return summary.melt(var_name="metric", ignore_index=False).reset_index()


def comments(job: ResultJob) -> None:
    """Section 4.4.4: mentions of each theme, and those with consistent ratings."""
    rows = []
    for key, study in STUDIES.items():
        counts = read_comment_counts(Path(job.input[key]))
        for theme, (column, fitting) in THEMES[study.name].items():
            fits = counts["satisfaction"].isin(fitting)
            rows.append((study.name, theme, "satisfied_side", counts.loc[fits, column].sum()))
            rows.append((study.name, theme, "mentions", counts[column].sum()))
    job.write_table(pd.DataFrame(rows, columns=["study", "theme", "metric", "value"]))


def _runs(job: ResultJob) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Ratings of the first run, of both runs, and of the viewpoints study."""
    inputs = {"first_run": ANSWERABILITY, "both_runs": ANSWERABILITY, "viewpoints": VIEWPOINTS}
    first, both, viewpoints = (
        read_response_limitations(Path(job.input[name]), study) for name, study in inputs.items()
    )
    return first, both, viewpoints


def per_pair(ratings: pd.DataFrame) -> int:
    """Ratings per query and condition, which must be the same for all pairs."""
    (count,) = set(ratings.groupby(["Query", "Condition"]).size())
    return int(count)


def sizes(job: ResultJob) -> None:
    """Table 4.7: sizes of the studies, counted in the ratings.

    The files contain no ids of workers or HITs. A worker rates all pairs of a HIT, and each pair is
    in a fixed number of HITs (section 4.2), so both numbers follow from the counts.
    """
    first, both, viewpoints = _runs(job)
    params = job.params
    hits, pairs = params.hits_per_pair, params.pairs_per_hit
    rows = []
    for study, ratings in (("Answerability", first), ("Viewpoints", viewpoints)):
        workers = exact_quotient(per_pair(ratings), hits)
        values = {
            "#queries per user study": ratings["Query"].nunique(),
            "#experimental cond. (#resp. per query)": ratings["Condition"].nunique(),
            "#crowd workers per HIT": workers,
            "#different HITs": exact_quotient(exact_quotient(len(ratings), pairs), workers),
            "#crowd workers per query-response": per_pair(ratings),
            "#query-response pairs annotations": len(ratings),
        }
        rows += [(row, study, "first_run", value) for row, value in values.items()]
    additional = per_pair(both) - per_pair(first)
    second = {
        "#crowd workers per HIT": exact_quotient(additional, hits),
        "#crowd workers per query-response": additional,
        "#query-response pairs annotations": len(both) - len(first),
    }
    rows += [(row, "Answerability", "second_run_additional", n) for row, n in second.items()]
    table = pd.DataFrame(rows, columns=["row", "study", "metric", "value"])
    order = list(values)
    job.write_table(table.sort_values("row", key=lambda row: row.map(order.index), kind="stable"))


def power_analysis(
    ratings: pd.DataFrame, dimension: str, *, alpha: float, power: float
) -> dict[str, float]:
    """Power of a study's first run, and ratings per condition that the next one needs (p. 61)."""
    groups = ratings["Condition"].nunique()
    f_value = anova_table(ratings, dimension, ["Condition"]).loc["Condition", "F"]
    planned = power_from_f(
        f_value, groups=groups, per_group=len(ratings) // groups, alpha=alpha, power=power
    )
    return {"F": f_value} | asdict(planned)


def attention_counts(files: Any) -> pd.DataFrame:
    """Attention checks of accepted workers, and those that failed, by study."""
    failed = {
        "Answerability": failed_checks(Path(files.both_runs)),
        "Viewpoints": failed_checks(Path(files.viewpoints)),
    }
    rows = [
        (study, metric, value)
        for study, checks in failed.items()
        for metric, value in (("checks", len(checks)), ("failed", int(checks.sum())))
    ]
    return pd.DataFrame(rows, columns=["study", "metric", "value"])


def text(job: ResultJob) -> None:
    """Numbers that only the text of chapter 4 states."""
    files, params = job.input, job.params
    first, both, viewpoints = _runs(job)
    workers = partial(exact_quotient, size=params.pairs_per_hit)
    experts = read_expert_scores(Path(files.experts))
    per_expert = experts.groupby(["query", "dimension", "variant"])["expert"].nunique().min()
    # Both files have the theme under the same name. Every rating has a coded comment.
    comments = (files.answerability_comments, files.viewpoints_comments)
    useful = sum(read_comment_counts(Path(path))["usefulness"].sum() for path in comments)
    analysis = partial(power_analysis, alpha=params.alpha, power=params.power)
    planned = {
        ("Answerability", "Factual Correctness"): analysis(first, "Factual Correctness"),
        ("Viewpoints", "Diversity"): analysis(viewpoints, "Diversity"),
    }
    achieved = planned["Answerability", "Factual Correctness"]["achieved_power"]
    reached = "low" if achieved < params.power else "high"
    rows = [
        ("Answerability", "workers", workers(len(both))),
        ("Viewpoints", "workers", workers(len(viewpoints))),
        ("Answerability", "workers_first_run", workers(len(first))),
        ("Viewpoints", "workers_first_run", workers(len(viewpoints))),
        ("Viewpoints", "candidate_queries", experts["query"].nunique()),
        ("Viewpoints", "experts_per_query", per_expert),
        ("Answerability", "comments", len(both)),
        ("Viewpoints", "comments", len(viewpoints)),
        ("Both", "usefulness_share_percent", 100 * useful / (len(both) + len(viewpoints))),
        ("Answerability", "power_of_first_run", reached),
    ]
    job.write_table(pd.DataFrame(rows, columns=["study", "metric", "value"]))
    cells = [
        (*study, metric, value)
        for study, values in planned.items()
        for metric, value in values.items()
    ]
    table = pd.DataFrame(cells, columns=["study", "dependent_variable", "metric", "value"])
    decimals = {"per_group": 1, "per_group_needed": 0}
    job.write_supplement(table, "power", {"all": 3} | decimals)
    job.write_supplement(attention_counts(files), "attention", {"all": 0})
