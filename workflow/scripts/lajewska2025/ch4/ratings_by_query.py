"""Figure 4.3: ratings of both studies by query."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.render.panels import box_panels
from everycell.studies.lajewska2025.ch4.ratings import both_studies, summarise_ratings

with ResultJob(snakemake) as job:
    parts, panels = [], []
    for study, ratings in both_studies(snakemake.input):
        panels += [f"{study.name}: {label}" for label in study.ratings]
        parts.append(
            ratings.melt("Query", list(study.ratings), "dimension", "rating").assign(
                study=study.name
            )
        )
    observed = pd.concat(parts)
    observed["query"] = observed["Query"].astype(int)
    observed = observed.sort_values(["study", "query"], kind="stable")
    plotted = (
        observed.groupby(["study", "dimension", "query", "rating"], sort=False)
        .size()
        .rename("value")
        .reset_index()
    )
    job.write_supplement(summarise_ratings(observed), "summary", {"median": 1, "percent high": 1})
    observed["panel"] = observed["study"] + ": " + observed["dimension"]
    observed["panel"] = pd.Categorical(observed["panel"], panels, ordered=True)
    job.write_figure(
        plotted,
        box_panels(
            observed.sort_values(["panel", "query"], kind="stable"),
            group="query",
            panel="panel",
            value="rating",
            group_label="Query",
            value_label="Rating (1 to 4)",
        ),
    )
