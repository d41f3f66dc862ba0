"""Figure 2.3: quality at each weight, the oracle's level, and that of random scores."""

from pathlib import Path

import pandas as pd

from everycell.engine.files import write_atomically
from everycell.engine.result_job import ResultJob
from everycell.retrieval.system_tables import as_printed, curves
from everycell.studies.abolghasemi2026.ch2.figures import interpolation_curves
from everycell.studies.abolghasemi2026.ch2.ranking_runs import RankingRuns

SERIES = {
    "curve": "non-oracle (blue)",
    "oracle": "oracle (orange)",
    "noise oracle": "noise oracle (ours)",
}
BEST_OF_EACH = "per query best of {0,0.1,...,1}"
CELL = ["combination", "task", "metric"]
#: What the thesis says of its curves in numbers; of the best weight, for TILDE alone.
PRINTED = ("0.0", "1.0", BEST_OF_EACH)

with ResultJob(snakemake) as job:
    settings = snakemake.params
    found = RankingRuns.of_job(snakemake)
    first = next(iter(found.runs))
    sweeps = {
        other: {task: both.test for task, both in by_task.items()}
        for other, by_task in found.pairings(settings.scaling).items()
    }
    noise = found.noise(settings.scaling, settings.noise_seeds)
    points = as_printed(curves(sweeps, noise), ("value", "oracle", "noise"))
    points = points.assign(series="curve", x=points["alpha"].map("{:.1f}".format))
    best = points.loc[points.groupby(CELL, sort=False)["value"].idxmax()]
    levels = points.drop_duplicates(CELL).assign(x=BEST_OF_EACH, alpha=None)
    marks = pd.concat(
        [
            points,
            levels.assign(series="oracle", value=levels["oracle"]),
            levels.assign(series="noise oracle", value=levels["noise"]),
        ],
        ignore_index=True,
    )
    plotted = pd.concat([marks, best.assign(x="argmax", value=best["alpha"])], ignore_index=True)
    details = {model: detail for _, model, detail, _ in settings.systems}
    plotted = plotted.assign(
        combination=first + "+" + plotted["combination"],
        detail=plotted["combination"].map(details),
        series=plotted["series"].map(SERIES),
        x_name="alpha",
    )
    columns = ["combination", "detail", "task", "series", "metric", "x_name", "x", "value"]
    if "points" in snakemake.output.keys():
        points = plotted[columns].to_csv(index=False, lineterminator="\n")
        write_atomically(Path(snakemake.output.points), points)
        best_of_tilde = (plotted["x"] == "argmax") & (plotted["combination"] == f"{first}+TILDE")
        printed = (plotted["x"].isin(PRINTED) | best_of_tilde) & (
            plotted["series"] != SERIES["noise oracle"]
        )
        plotted = plotted[printed]
    figure = interpolation_curves(marks.assign(first=first, second=marks["combination"]))
    job.write_figure(plotted[columns], figure)
