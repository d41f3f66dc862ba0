"""Fairness measures at every cut-off, and their sensitivity to it.

On planted rankings the script also compares measured with planted values, and plots a case that
one of the measures cannot detect.
"""

from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.collections.planted_bias import SYSTEMS
from everycell.jobs.result_job import ResultJob
from everycell.retrieval.fairness_figures import (
    document_against_list_fairness,
    fairness_over_depth,
)
from everycell.retrieval.ranker_fairness import (
    MEASURES,
    RankedSystem,
    compare_with_truth,
    fairness_at_cutoffs,
    mean_curves,
    sensitivity,
)
from everycell.studies.term_fairness.curves import (
    CUTOFF,
    RECOVERED,
    balance_marks,
    curve_points,
    label_systems,
    published_points,
    recovered_table,
    sensitivity_points,
)

with ResultJob(snakemake) as job:
    settings = snakemake.params
    systems = [
        RankedSystem(
            query_set,
            name,
            Path("work", collection, "counts.parquet"),
            Path("work", collection, "runs", f"{run}.run"),
        )
        for query_set, collection, run, name in settings.systems
    ]
    fairness = fairness_at_cutoffs(systems, range(1, settings.cutoffs + 1), settings.tau)
    curves = mean_curves(fairness)
    changes = sensitivity(curves)
    points = curve_points(curves)
    if "points" in snakemake.output.keys():
        text = points.to_csv(index=False, lineterminator="\n")
        write_atomically(Path(snakemake.output.points), text)
        points = published_points(points)
    plotted = [points.astype({"value": object}), sensitivity_points(changes)]
    figure = fairness_over_depth(curves, cutoff=CUTOFF)
    job.write_figure(pd.concat(plotted, ignore_index=True), figure)
    changes = changes.rename(columns={"measure": "metric"})
    job.write_supplement(changes, "sensitivity", dict.fromkeys(MEASURES.values(), 4))

    if "recovered_csv" in snakemake.output.keys():
        recovered = compare_with_truth(
            fairness, pd.read_parquet(snakemake.input.truth), cutoff=CUTOFF
        )
        job.write_supplement(recovered_table(recovered, SYSTEMS), "recovered", RECOVERED)
        marks = balance_marks(recovered)
        figure = document_against_list_fairness(label_systems(marks, SYSTEMS))
        job.write_figure(marks, figure, "balance")
