"""Tables 3.6 and 3.7, Figures 3.4 and 3.5: results of trained and few-shot estimators."""

import json
from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.records.spread import SEEDS, summarise_seeds
from everycell.studies.abolghasemi2026.ch3.answers import (
    MEASURES,
    add_labels,
    confusions,
    growing_shares,
    mean_overlaps,
    measure_confusions,
    number_trainings,
    overlap_rows,
    select_answers,
    select_setups,
    spread,
)
from everycell.studies.abolghasemi2026.ch3.estimators import thesis_names
from everycell.studies.abolghasemi2026.ch3.few_shot import FEW_SHOT
from everycell.studies.abolghasemi2026.ch3.figures import (
    FIGURES,
    growing_share_figure,
    plotted_values,
)
from everycell.studies.abolghasemi2026.ch3.ranking import RANKED, ranking_quality
from everycell.studies.abolghasemi2026.ch3.robustness import (
    CUES,
    GAINS,
    apology_effects,
    doubling_gains,
    gains,
)
from everycell.studies.abolghasemi2026.ch3.setups import is_own, is_published

ROWS = ["test_data", "model", "setup", "benchmark"]
LABELS = {"benchmark": "dataset", "metric": "metric"}

with ResultJob(snakemake) as job:
    settings = snakemake.params
    files = snakemake.input
    trained = number_trainings(map(pd.read_parquet, files.trained), settings.trainings)
    few_shot = map(pd.read_parquet, files.few_shot)
    predictions = add_labels(pd.concat([*trained, *few_shot], ignore_index=True))
    setups = select_setups(predictions[~predictions["setup"].map(is_own)])
    answers = predictions[predictions["part"] != "valid"]
    job.facts["unparsable"] = int(answers["probability"].isna().sum())
    job.facts["language_models"] = [
        json.loads(Path(path).read_text(encoding="utf-8")) for path in files.provenance
    ]

    # Table 3.6, with the spread over training runs in supplements. Tables that are compared with
    # the thesis have only the published rows.
    table = measure_confusions(confusions(answers))
    published = table
    if settings.published_rows:
        of_thesis = table["model"].isin(thesis_names()) & table["setup"].map(is_published)
        published = table[of_thesis | (table["setup"] == FEW_SHOT)]
    values = published.groupby([*ROWS, "metric"], sort=False)["value"]
    job.write_table(values.mean().reset_index().rename(columns=LABELS))
    if settings.published_rows:
        seeds = table[of_thesis].rename(columns=LABELS)
        keys = [LABELS.get(name, name) for name in [*ROWS, "metric"]]
        job.write_supplement(summarise_seeds(seeds, keys), SEEDS, dict.fromkeys(MEASURES, 3))
    decimals = dict.fromkeys(["mean F1", "deviation", "lowest F1", "highest F1"], 2)
    job.write_supplement(spread(table, ROWS), "spread", decimals | {"trainings": 0})
    for name, compute_gains in (("robustness", gains), ("doubled", doubling_gains)):
        table = compute_gains(answers, draws=settings.draws, seed=job.seed)
        job.write_supplement(table, name, dict.fromkeys(GAINS, 2))
    job.write_supplement(apology_effects(answers), "apologies", dict.fromkeys(CUES, 2))
    ranked = ranking_quality(answers, draws=settings.draws, seed=job.seed)
    job.write_supplement(ranked, "ranking", dict.fromkeys(RANKED, 1))

    best = select_answers(answers, setups)
    overlaps = best
    if settings.published_rows:
        overlaps = best[best["model"].isin(thesis_names()) | (best["setup"] == FEW_SHOT)]
    by_training = overlap_rows(overlaps)
    job.write_table(mean_overlaps(by_training), artefact="table_3_7")
    if settings.published_rows:
        seeds = by_training[by_training["row"].isin(thesis_names())].dropna(subset="value")
        table = summarise_seeds(seeds, ["row", "dataset", "metric"])
        job.write_supplement(table, SEEDS, {"JSI": 5}, artefact="table_3_7")

    points = growing_shares(best, orders=settings.orders, seed=job.seed)
    for name, titles in FIGURES.items():
        part = points[points["metric"].isin(titles)]
        plotted = plotted_values(part).rename(columns=LABELS)
        job.write_figure(plotted, growing_share_figure(part, titles), name)
