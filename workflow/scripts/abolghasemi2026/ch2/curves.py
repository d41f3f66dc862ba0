"""Figure 2.3: effectiveness by weight, and the levels of the oracle and the noise oracle."""

from pathlib import Path

from everycell.base.files import write_atomically
from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch2.curves import (
    curve_marks,
    curves,
    effective_weights,
    plotted_cells,
    published_cells,
)
from everycell.studies.abolghasemi2026.ch2.figures import interpolation_curves
from everycell.studies.abolghasemi2026.ch2.ranking_runs import MEASURES, RankingRuns
from everycell.studies.abolghasemi2026.ch2.units import published_units

with ResultJob(snakemake) as job:
    settings = snakemake.params
    runs = RankingRuns.of_job(snakemake)
    first = next(iter(runs.runs))
    sweeps = {
        second_name: {task: pairing.test for task, pairing in by_task.items()}
        for second_name, by_task in runs.pairings(settings.scaling).items()
    }
    noise = runs.noise(settings.scaling, settings.noise_seeds)
    points = curves(sweeps, noise)
    marks = curve_marks(published_units(points, ("value", "oracle", "noise")))
    details = {model: detail for _, model, detail, _ in settings.systems}
    plotted = plotted_cells(marks, first, details)
    if "points" in snakemake.output.keys():
        csv = plotted.to_csv(index=False, lineterminator="\n")
        write_atomically(Path(snakemake.output.points), csv)
        plotted = published_cells(plotted, first)
    figure = interpolation_curves(marks.assign(first=first, second=marks["combination"]))
    job.write_figure(plotted, figure)
    job.write_supplement(effective_weights(points, first), "ranges", dict.fromkeys(MEASURES, 0))
