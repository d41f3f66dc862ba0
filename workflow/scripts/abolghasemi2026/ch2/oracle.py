"""Table 2.4: the best weight per topic, and the same oracle with random scores."""

from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch2.figures import oracle_gains
from everycell.studies.abolghasemi2026.ch2.oracle import (
    add_control,
    gain_marks,
    oracle_table,
    round_counts,
)
from everycell.studies.abolghasemi2026.ch2.quality import letters_note
from everycell.studies.abolghasemi2026.ch2.ranking_runs import RankingRuns
from everycell.studies.abolghasemi2026.ch2.units import published_units

with ResultJob(snakemake) as job:
    settings = snakemake.params
    runs = RankingRuns.of_job(snakemake)
    first = next(iter(runs.runs))
    singles = {task: runs.values(task) for task in runs.tasks}
    pairings = runs.pairings(settings.scaling)
    noise = runs.noise(settings.scaling, settings.noise_seeds)

    combinations = {
        f"{first}+oracle {second_name}": {task: pairing.test for task, pairing in by_task.items()}
        for second_name, by_task in pairings.items()
    }
    details = {f"{first}+oracle {model}": detail for _, model, detail, _ in settings.systems}
    table = published_units(
        oracle_table(combinations, singles, noise, level=settings.alpha, letters=settings.letters),
        ("value", "noise_value"),
    )
    cells = round_counts(add_control(table, first) if settings.control else table)
    cells["detail"] = cells["combination"].map(details).fillna("random scores")
    job.write_table(
        cells[["row", "combination", "detail", "task", "metric", "value", "marker"]],
        note=letters_note(table),
    )
    plotted = gain_marks(first, pairings, singles, noise, job.seed)
    job.write_figure(plotted, oracle_gains(plotted), "gains")
