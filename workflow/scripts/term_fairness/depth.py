"""The measures at every cut-off, and how much they change with it.

On planted rankings also what was planted, and the case that one measure cannot see.
"""

import textwrap
from pathlib import Path

import pandas as pd

from everycell.collections.planted_bias import SYSTEMS
from everycell.engine.files import write_atomically
from everycell.engine.result_job import ResultJob
from everycell.retrieval.fairness_curves import (
    MEASURES,
    RankedSystem,
    fairness_at_cutoffs,
    mean_curves,
    most_sensitive,
    recovered,
    sensitivity,
)
from everycell.retrieval.fairness_figures import (
    document_against_list_fairness,
    fairness_over_depth,
)

#: What the print gives in numbers: these measures at this cut-off.
PRINTED, CUTOFF = ("NFaiRR", "TExFAIR (with RBDF)"), 10
KEYS = ["row", "series", "metric", "x_name", "x"]


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
    points = curves.rename(columns={"query_set": "row", "system": "series", "measure": "metric"})
    points = points.assign(x_name="k", x=points["k"])
    most = most_sensitive(changes).rename(columns={"query_set": "row", "measure": "x"})
    most = most.assign(series="all rankers", metric="sensitivity to k", x_name="measure")
    if "points" in snakemake.output.keys():
        text = points[[*KEYS, "value"]].to_csv(index=False, lineterminator="\n")
        write_atomically(Path(snakemake.output.points), text)
        points = points[points["metric"].isin(PRINTED) & (points["k"] == CUTOFF)]
    plotted = pd.concat([points.astype({"value": object}), most], ignore_index=True)
    job.write_figure(plotted[[*KEYS, "value"]], fairness_over_depth(curves, cutoff=CUTOFF))
    changes = changes.rename(columns={"measure": "metric"})
    job.write_beside(changes, "sensitivity", dict.fromkeys(MEASURES.values(), 4))

    if "recovered_csv" in snakemake.output.keys():
        found = recovered(fairness, pd.read_parquet(snakemake.input.truth), cutoff=CUTOFF)
        columns = {
            "value_planted": f"planted, k = {CUTOFF}",
            "value": f"measured, k = {CUTOFF}",
            "difference": "largest difference",
        }
        table = found.assign(ranking=found["system"].map(SYSTEMS)).rename(columns=columns)
        table = table.melt(
            id_vars=["system", "ranking", "measure"], value_vars=columns.values(), var_name="metric"
        )
        # The difference has as many decimals as show that it is nothing but rounding.
        job.write_beside(table, "recovered", dict(zip(columns.values(), (4, 4, 12), strict=True)))
        marks = found[found["measure"].isin(PRINTED)].rename(columns={"value_planted": "planted"})
        marks = marks[["system", "measure", "value", "planted"]]
        labels = {
            system: textwrap.fill(f"{system}: {ranking}", 58) for system, ranking in SYSTEMS.items()
        }
        figure = document_against_list_fairness(marks.replace({"system": labels}))
        job.write_figure(marks, figure, "balance")
