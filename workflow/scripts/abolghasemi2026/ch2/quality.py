"""Tables 2.1 and 2.2: effectiveness on all tasks, with significance letters."""

from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.records.spread import SEEDS, summarise_seeds
from everycell.retrieval.encoded import read_encoded
from everycell.retrieval.evaluation import evaluate
from everycell.studies.abolghasemi2026.ch2.figures import short_against_long
from everycell.studies.abolghasemi2026.ch2.learning_gains import learning_gains
from everycell.studies.abolghasemi2026.ch2.planted_checks import (
    combination_checks,
    gain_checks,
    weight_checks,
)
from everycell.studies.abolghasemi2026.ch2.quality import (
    expansion_means,
    letters_note,
    quality_table,
    short_and_long,
)
from everycell.studies.abolghasemi2026.ch2.ranking_runs import (
    DECIMALS,
    KEYS,
    MEASURES,
    RankingRuns,
)
from everycell.studies.abolghasemi2026.ch2.reports import task_reports
from everycell.studies.abolghasemi2026.ch2.seeds import mean_over_seeds, means_by_seed, runs_by_seed
from everycell.studies.abolghasemi2026.ch2.units import published_units
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    settings = snakemake.params
    rows = {row: (model, detail) for row, model, detail, _ in settings.systems}
    values = {}
    for collection, lists in settings.lists.items():
        folder = Path("work") / collection
        runs = {row: folder / "runs" / f"{run}.run" for row, *_, run in settings.systems}
        if lists:
            by_seed = [
                RankingRuns(snakemake.input.candidates, selection, **lists)
                for selection in runs_by_seed(runs, settings.seeds)
            ]
            trainings = [
                {task: training.values(task) for task in training.tasks} for training in by_seed
            ]
            values |= mean_over_seeds(trainings)
            # Everything except the means and the spread uses only the first training run.
            first_training = by_seed[0]
        else:
            qrels = pd.read_parquet(folder / "qrels.parquet")
            values[collection] = {
                row: evaluate(read_run(run), qrels, MEASURES) for row, run in runs.items()
            }
    table = quality_table(values, level=settings.alpha, letters={row: row for row in rows})
    table = published_units(table)
    table["model"], table["detail"] = zip(*table["row"].map(rows), strict=True)
    job.write_table(table[[*KEYS, "value", "marker"]], note=letters_note(table))
    if settings.seeds:
        spread = published_units(
            means_by_seed(trainings, list(trainings[-1][first_training.tasks[0]]))
        )
        spread["model"], spread["detail"] = zip(*spread["row"].map(rows), strict=True)
        decimals = {metric: digits + 1 for metric, digits in DECIMALS.items()}
        job.write_supplement(summarise_seeds(spread, KEYS), SEEDS, decimals)
    if "comparison_md" in snakemake.output.keys():
        ranked = {task: first_training.ranked(task) for task in first_training.tasks}
        names = {row: " ".join(name) for row, name in rows.items()}
        reports = task_reports(ranked, names, MEASURES, settings.alpha)
        Path(snakemake.output.comparison_md).write_text(reports["markdown"], encoding="utf-8")
        Path(snakemake.output.comparison_tex).write_text(reports["latex"], encoding="utf-8")
    if "expansion_csv" in snakemake.output.keys():
        new_terms = {
            str(m): pd.read_csv(file)
            for m, file in zip(settings.expansion, snakemake.input.new_terms, strict=True)
        }
        job.write_supplement(expansion_means(new_terms), "expansion", {"found": 1, "added": 1})
    if "validation_csv" in snakemake.output.keys():
        baselines = settings.baselines
        selection = {
            row: first_training.runs[row]
            for row in dict.fromkeys([*baselines, *baselines.values()])
        }
        trained = RankingRuns(snakemake.input.candidates, selection, **lists)
        by_task = {task: trained.values(task, "validation") for task in lists["tasks"]}
        gains = learning_gains(by_task, baselines, level=settings.alpha)
        digits = {"gain in nDCG": 4, "low": 4, "high": 4, "p": 4, "topics": 0}
        job.write_supplement(gains, "validation", digits)
    if "checks_csv" in snakemake.output.keys():
        encoded = {
            name: read_encoded(Path(snakemake.input[name.lower()])) for name in ("TILDE", "TILDEv2")
        }
        checks = [
            weight_checks(encoded, pd.read_parquet(snakemake.input.mentions)),
            gain_checks(values, settings.expansion, job.seed),
            combination_checks(first_training, settings.scaling, job.seed),
        ]
        digits = dict.fromkeys(("value", "low", "high", "share of the planted gap"), 3)
        job.write_supplement(pd.concat(checks, ignore_index=True), "checks", digits)
    if "lengths_csv" in snakemake.output.keys():
        files = dict(zip(settings.short_and_long, snakemake.input.pydocs_runs, strict=True))
        tasks = list(settings.query_kinds)
        pydocs = RankingRuns(
            snakemake.input.pydocs_candidates, files, setting=settings.pydocs_setting, tasks=tasks
        )
        by_task = {task: pydocs.values(task) for task in tasks}
        marks = short_and_long(by_task, settings.query_kinds, job.seed)
        job.write_figure(marks, short_against_long(marks), "lengths")
