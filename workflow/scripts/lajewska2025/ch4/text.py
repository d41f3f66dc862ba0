"""Numbers that only the text of chapter 4 states."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_studies import (
    ANSWERABILITY,
    VIEWPOINTS,
    read_comment_counts,
    read_expert_scores,
    read_response_limitations,
)
from everycell.jobs.result_job import ResultJob
from everycell.statistics.anova import anova
from everycell.statistics.power import power_from_f
from everycell.studies.lajewska2025.ch4.ratings import exact_quotient

with ResultJob(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    both = read_response_limitations(Path(files.both_runs), ANSWERABILITY)
    first = read_response_limitations(Path(files.first_run), ANSWERABILITY)
    viewpoints = read_response_limitations(Path(files.viewpoints), VIEWPOINTS)
    experts = read_expert_scores(Path(files.experts))
    # Both files have the theme under the same name. Every rating has a coded comment.
    useful = sum(
        read_comment_counts(Path(path))["usefulness"].sum()
        for path in (files.answerability_comments, files.viewpoints_comments)
    )

    rows = [
        ("Answerability", "workers", exact_quotient(len(both), params.pairs_per_hit, "ratings")),
        ("Viewpoints", "workers", exact_quotient(len(viewpoints), params.pairs_per_hit, "ratings")),
        (
            "Answerability",
            "workers_first_run",
            exact_quotient(len(first), params.pairs_per_hit, "ratings"),
        ),
        (
            "Viewpoints",
            "workers_first_run",
            exact_quotient(len(viewpoints), params.pairs_per_hit, "ratings"),
        ),
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
    conditions = first["Condition"].nunique()
    planned = power_from_f(
        anova(first, "Factual Correctness", ["Condition"]).loc["Condition", "F"],
        groups=conditions,
        per_group=len(first) // conditions,
        alpha=params.alpha,
        power=params.power,
    )
    reached = "low" if planned.achieved_power < params.power else "high"
    rows.append(("Answerability", "power_of_first_run", reached))
    job.write_table(pd.DataFrame(rows, columns=["study", "metric", "value"]))
