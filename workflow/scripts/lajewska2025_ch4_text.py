"""Numbers of chapter 4 that stand in its text only."""

import math
from pathlib import Path

import pandas as pd
from job import Job

from everycell.collections.user_studies import (
    ANSWERABILITY,
    VIEWPOINTS,
    read_comment_counts,
    read_expert_scores,
    read_response_limitations,
)
from everycell.statistics import anova, pearson, power_from_f

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    both = read_response_limitations(Path(files.both_runs), ANSWERABILITY)
    first = read_response_limitations(Path(files.first_run), ANSWERABILITY)
    viewpoints = read_response_limitations(Path(files.viewpoints), VIEWPOINTS)
    experts = read_expert_scores(Path(files.experts))
    # Both files name the theme alike; every comment was coded, so rows of the ratings are comments.
    useful = sum(
        read_comment_counts(Path(path))["usefulness"].sum()
        for path in (files.answerability_comments, files.viewpoints_comments)
    )

    rows = [
        ("Answerability", "workers", len(both) // params.pairs_per_hit),
        ("Viewpoints", "workers", len(viewpoints) // params.pairs_per_hit),
        ("Answerability", "workers_first_run", len(first) // params.pairs_per_hit),
        ("Viewpoints", "workers_first_run", len(viewpoints) // params.pairs_per_hit),
        ("Viewpoints", "candidate_queries", experts["query"].nunique()),
        (
            "Viewpoints",
            "experts_per_query",
            experts.groupby(["query", "dimension", "variant"])["expert"].nunique().min(),
        ),
        ("Answerability", "comments", len(both)),
        ("Viewpoints", "comments", len(viewpoints)),
        ("Both", "usefulness_share_percent", 100 * useful / (len(both) + len(viewpoints))),
    ]
    for study, ratings, label in (
        ("Answerability", first, "Factual Correctness"),
        ("Viewpoints", viewpoints, "Diversity"),
    ):
        conditions = ratings["Condition"].nunique()
        per_condition = len(ratings) // conditions
        f_value = anova(ratings, label, ["Condition"]).loc["Condition", "F"]
        reached = power_from_f(
            f_value, groups=conditions, per_group=per_condition, alpha=params.alpha
        ).achieved_power
        rows.append((study, "power_of_first_run", "low" if reached < params.power else "high"))
    correlations = pd.concat(
        pearson(
            ratings,
            [
                (label, "Overall Satisfaction")
                for label in study.ratings
                if label not in ("Familiarity", "Overall Satisfaction")
            ],
        )
        for study, ratings in ((ANSWERABILITY, both), (VIEWPOINTS, viewpoints))
    )["r"]
    # The bounds that the text could name with one decimal.
    rows.append(("Both", "correlation_lower_bound", math.floor(10 * correlations.min()) / 10))
    rows.append(("Both", "correlation_upper_bound", math.ceil(10 * correlations.max()) / 10))
    job.write_table(pd.DataFrame(rows, columns=["study", "metric", "value"]))
