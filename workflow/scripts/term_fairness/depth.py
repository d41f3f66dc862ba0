"""Figure 4.2: the measures at every cut-off, and how much they change with it.

On planted rankings also what was planted, and the case that one measure cannot see.
"""

import textwrap
from pathlib import Path

import pandas as pd

from everycell.collections.planted_bias import SYSTEMS
from everycell.engine.files import write_atomically
from everycell.engine.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch4.fairness_runs import (
    MEASURES,
    fairness_of,
    mean_curves,
    most_sensitive,
    sensitivity,
)
from everycell.studies.abolghasemi2026.ch4.figures import (
    document_against_list_fairness,
    fairness_over_depth,
)

#: What the print gives in numbers: these measures at this cut-off.
PRINTED, CUTOFF = ("NFaiRR", "TExFAIR (with RBDF)"), 10
KEYS = ["row", "series", "metric", "x_name", "x"]


def recovered(fairness: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """Planted and measured means at the cut-off, and their largest difference anywhere."""
    keys, names = ["system", "query", "k"], list(MEASURES)
    measured, planted = (
        frame.melt(id_vars=keys, value_vars=names, var_name="measure")
        for frame in (fairness, truth)
    )
    both = measured.merge(planted, on=[*keys, "measure"], suffixes=("", "_planted"))
    both["difference"] = (both["value"] - both["value_planted"]).abs()
    groups = ["system", "measure"]
    table = both[both["k"] == CUTOFF].groupby(groups, sort=False)[["value", "value_planted"]].mean()
    table["difference"] = both.groupby(groups, sort=False)["difference"].max()
    return table.reset_index().replace({"measure": MEASURES}).dropna(subset="value")


with ResultJob(snakemake) as job:
    settings = snakemake.params
    fairness = fairness_of(settings.systems, range(1, settings.cutoffs + 1), settings.tau)
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
        found = recovered(fairness, pd.read_parquet(snakemake.input.truth))
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
