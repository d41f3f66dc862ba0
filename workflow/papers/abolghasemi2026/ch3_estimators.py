"""Results of estimators of user satisfaction in chapter 3 of abolghasemi2026."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from everycell.base.untrusted import read_json
from everycell.jobs.result_job import ResultJob
from everycell.records.cells import SEEDS, summarise_seeds
from everycell.render.figures import interval_lines
from papers.abolghasemi2026.ch3_predictions import (
    ESTIMATOR,
    MEASURES,
    WITH,
    add_labels,
    confusions,
    curves_by_estimator,
    mean_overlaps,
    measure_confusions,
    number_trainings,
    overlap_rows,
    select_predictions,
    select_setups,
    spread_of_f1,
)
from papers.abolghasemi2026.ch3_robustness import (
    CUES,
    GAINS,
    RANKED,
    apology_effects,
    doubling_gains,
    gains,
    ranking_quality,
)
from papers.abolghasemi2026.ch3_training import (
    FEW_SHOT,
    baseline_names,
    is_own,
    is_published,
    thesis_names,
)

ROWS = ["test_data", "model", "setup", "benchmark"]
LABELS = {"benchmark": "dataset", "metric": "metric"}
#: Measures of the two figures, with their axis labels.
FIGURES = {
    "figure_3_4": {"Acc": "Accuracy", "F1": "Macro F1"},
    "figure_3_5": {"recall of dissatisfaction": "Recall of dissatisfaction"},
}


def estimators(job: ResultJob) -> None:
    """Tables 3.6 and 3.7, Figures 3.4 and 3.5: results of trained and few-shot estimators."""
    settings = job.params
    files = job.input
    trained = number_trainings(map(pd.read_parquet, files.trained), settings.trainings)
    few_shot = map(pd.read_parquet, files.few_shot)
    labelled = add_labels(pd.concat([*trained, *few_shot], ignore_index=True))
    setups = select_setups(labelled[~labelled["setup"].map(is_own)])
    predictions = labelled[labelled["part"] != "valid"]
    job.facts["unparsable"] = int(predictions["probability"].isna().sum())
    job.facts["language_models"] = [read_json(path) for path in files.provenance]

    # Table 3.6, with the spread over training runs in supplements. Tables that are compared with
    # the thesis have only the published rows.
    table = measure_confusions(confusions(predictions))
    published = table
    of_thesis = table["model"].isin(thesis_names()) & table["setup"].map(is_published)
    if settings.published_rows:
        published = table[of_thesis | (table["setup"] == FEW_SHOT)]
    values = published.groupby([*ROWS, "metric"], sort=False)["value"]
    job.write_table(values.mean().reset_index().rename(columns=LABELS))
    if settings.published_rows:
        seeds = table[of_thesis].rename(columns=LABELS)
        keys = [LABELS.get(name, name) for name in [*ROWS, "metric"]]
        job.write_supplement(summarise_seeds(seeds, keys), SEEDS, dict.fromkeys(MEASURES, 3))
    decimals = dict.fromkeys(["mean F1", "deviation", "lowest F1", "highest F1"], 2)
    job.write_supplement(spread_of_f1(table, ROWS), "spread", decimals | {"trainings": 0})
    for name, compute_gains in (("robustness", gains), ("doubled", doubling_gains)):
        table = compute_gains(predictions, draws=settings.draws, seed=job.params.seed)
        job.write_supplement(table, name, dict.fromkeys(GAINS, 2))
    job.write_supplement(apology_effects(predictions), "apologies", dict.fromkeys(CUES, 2))
    ranked = ranking_quality(predictions, draws=settings.draws, seed=job.params.seed)
    job.write_supplement(ranked, "ranking", dict.fromkeys(RANKED, 1))

    best = select_predictions(predictions, setups)
    overlaps = best
    if settings.published_rows:
        overlaps = best[best["model"].isin(thesis_names()) | (best["setup"] == FEW_SHOT)]
    by_training = overlap_rows(overlaps)
    job.write_table(mean_overlaps(by_training), artefact="table_3_7")
    if settings.published_rows:
        seeds = by_training[by_training["row"].isin(thesis_names())].dropna(subset="value")
        table = summarise_seeds(seeds, ["row", "dataset", "metric"])
        job.write_supplement(table, SEEDS, {"JSI": 5}, artefact="table_3_7")

    points = curves_by_estimator(best, orders=settings.orders, seed=job.params.seed)
    for name, titles in FIGURES.items():
        part = points[points["metric"].isin(titles)]
        plotted = plotted_values(part).rename(columns=LABELS)
        job.write_figure(plotted, dissatisfied_share_figure(part, titles), name)


def dissatisfied_share_figure(points: pd.DataFrame, titles: dict[str, str]) -> Figure:
    """Lines of all estimators except the baselines, one panel per measure and benchmark."""
    points = points[~points["model"].str.startswith(baseline_names())]
    panels = points["metric"].map(titles)
    if points["benchmark"].nunique() > 1:
        panels = points["benchmark"] + ": " + panels
    augmented = points["model"].str.endswith(WITH)
    return interval_lines(
        points.assign(
            panel=panels,
            series=points["model"].where(augmented, points["model"] + ", " + points["setup"]),
        ),
        x="percent",
        low="low",
        high="high",
        series="series",
        panel="panel",
        x_label="Share of dissatisfied samples (percent)",
        value_label="Percent",
    )


def plotted_values(points: pd.DataFrame) -> pd.DataFrame:
    """Values of a figure, one per row: mean, lower and upper bound of each point."""
    plotted = points.rename(columns={"value": "mean"}).melt(
        id_vars=[*ESTIMATOR, "metric", "percent"],
        value_vars=["mean", "low", "high"],
        var_name="end",
    )
    return plotted.assign(percent=plotted["percent"].map(lambda share: f"{share:.4g}"))
