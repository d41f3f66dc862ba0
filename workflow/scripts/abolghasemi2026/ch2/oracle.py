"""Table 2.4: the best weight of each topic, beside the same choice with random scores."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.retrieval.interpolation import oracle
from everycell.retrieval.system_tables import (
    as_printed,
    letters_note,
    mean_with_interval,
    oracle_table,
    tuned_values,
)
from everycell.studies.abolghasemi2026.ch2.figures import oracle_gains
from everycell.studies.abolghasemi2026.ch2.ranking_runs import MEASURES, RankingRuns

with ResultJob(snakemake) as job:
    settings = snakemake.params
    found = RankingRuns.of_job(snakemake)
    first = next(iter(found.runs))
    singles = {task: found.values(task) for task in found.tasks}
    pairings = found.pairings(settings.scaling)
    noise = found.noise(settings.scaling, settings.noise_seeds)

    combinations = {
        f"{first}+oracle {other}": {task: both.test for task, both in by_task.items()}
        for other, by_task in pairings.items()
    }
    details = {f"{first}+oracle {model}": detail for _, model, detail, _ in settings.systems}
    table = as_printed(
        oracle_table(combinations, singles, noise, level=settings.alpha, letters=settings.letters),
        ("value", "noise_value"),
    )
    shown = table
    if settings.control:
        # Once: it is the same for every combination of the first system.
        quality = table[table["row"] == "ranking quality"].drop_duplicates(["task", "metric"])
        control = quality.assign(
            combination=f"{first}+oracle noise", value=quality["noise_value"], marker=""
        )
        shown = pd.concat([table, control], ignore_index=True)
    counts = shown["row"].str.startswith("n_")
    shown["value"] = shown["value"].astype(object).mask(counts, shown["value"].astype(int))
    shown["detail"] = shown["combination"].map(details).fillna("random scores")
    job.write_table(
        shown[["row", "combination", "detail", "task", "metric", "value", "marker"]],
        note=letters_note(table),
    )

    marks = []
    for other, by_task in pairings.items():
        tuned, _ = tuned_values(by_task)
        for task, both in by_task.items():
            for metric in MEASURES:
                cell = {"combination": f"{first} + {other}", "task": task, "metric": metric}
                alone = singles[task][first][metric]
                gains = {
                    "tuned": tuned[task][metric] - alone,
                    "oracle": oracle(both.test, metric)["value"] - alone,
                }
                for series, gain in gains.items():
                    marks.append(cell | {"series": series} | mean_with_interval(gain, job.seed))
                # Its interval is over the random systems: two standard deviations.
                gain, spread = noise[task].loc[metric, ["noise_gain", "noise_sd"]]
                ends = {"low": gain - 2 * spread, "high": gain + 2 * spread}
                marks.append(cell | {"series": "noise oracle", "value": gain} | ends)
    plotted = pd.DataFrame(marks)
    job.write_figure(plotted, oracle_gains(plotted), "gains")
