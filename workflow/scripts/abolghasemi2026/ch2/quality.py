"""Tables 2.1 and 2.2: quality of systems on all tasks, with letters of the rows that they beat."""

from pathlib import Path

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.retrieval.comparison import comparison_report
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.system_tables import (
    as_printed,
    letters_note,
    quality_table,
    short_and_long,
)
from everycell.studies.abolghasemi2026.ch2.figures import short_against_long
from everycell.studies.abolghasemi2026.ch2.ranking_runs import KEYS, MEASURES, RankingRuns
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    settings = snakemake.params
    rows = {row: (model, detail) for row, model, detail, _ in settings.systems}
    values = {}
    for collection, lists in settings.lists.items():
        folder = Path("work") / collection
        runs = {row: folder / "runs" / f"{run}.run" for row, *_, run in settings.systems}
        if lists:
            found = RankingRuns(snakemake.input.candidates, runs, **lists)
            values |= {task: found.values(task) for task in lists["tasks"]}
        else:
            qrels = pd.read_parquet(folder / "qrels.parquet")
            values[collection] = {
                row: evaluate(read_run(run), qrels, MEASURES) for row, run in runs.items()
            }
    table = quality_table(values, level=settings.alpha, letters={row: row for row in rows})
    table = as_printed(table)
    table["model"], table["detail"] = zip(*table["row"].map(rows), strict=True)
    job.write_table(table[[*KEYS, "value", "marker"]], note=letters_note(table))
    if "comparison_md" in snakemake.output.keys():
        reports = {}
        for task in found.tasks:
            runs, qrels = found.ranked(task)
            named = {" ".join(rows[row]).replace(",", ""): run for row, run in runs.items()}
            reports[task] = comparison_report(named, qrels, MEASURES, level=settings.alpha)
        for form, head in (("markdown", "## {}\n\n"), ("latex", "% {}\n")):
            parts = [head.format(task) + getattr(one, form) for task, one in reports.items()]
            out = snakemake.output[{"markdown": "comparison_md", "latex": "comparison_tex"}[form]]
            Path(out).write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    if "expansion_csv" in snakemake.output.keys():
        means = {
            str(m): pd.read_csv(file)[["found", "added"]].mean()
            for m, file in zip(settings.expansion, snakemake.input.new_terms, strict=True)
        }
        new_terms = pd.DataFrame(means).rename_axis("metric").reset_index()
        new_terms = new_terms.melt(id_vars="metric", var_name="m")[["m", "metric", "value"]]
        job.write_beside(new_terms, "expansion", {"found": 1, "added": 1})
    if "lengths_csv" in snakemake.output.keys():
        found.runs = {name: found.runs[row] for row, name in settings.length_rows.items()}
        by_task = {task: found.values(task) for task in settings.query_kinds}
        marks = short_and_long(by_task, settings.query_kinds, job.seed)
        job.write_figure(marks, short_against_long(marks), "lengths")
