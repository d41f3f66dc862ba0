"""Table 2.3: BM25 combined with TILDE and TILDEv2, with tuned weights."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch2.interpolation import (
    interpolation_table,
    name_combinations,
)
from everycell.studies.abolghasemi2026.ch2.quality import letters_note
from everycell.studies.abolghasemi2026.ch2.ranking_runs import DECIMALS, KEYS, RankingRuns
from everycell.studies.abolghasemi2026.ch2.units import published_units


def table(runs: RankingRuns) -> pd.DataFrame:
    """Single systems, and combinations of the first one with every other."""
    details = {model: detail for _, model, detail, _ in settings.systems}
    first, pairings = next(iter(runs.runs)), runs.pairings(settings.scaling)
    combinations, details = name_combinations(first, pairings, details)
    singles = {task: runs.values(task) for task in runs.tasks}
    quality = published_units(interpolation_table(singles, combinations, level=settings.alpha))
    return quality.assign(model=quality["system"], detail=quality["system"].map(details))


with ResultJob(snakemake) as job:
    settings = snakemake.params
    main_table = table(RankingRuns.of_job(snakemake))
    job.write_table(main_table[[*KEYS, "value", "marker"]], note=letters_note(main_table))
    weights = (
        main_table.dropna(subset="alpha").drop(columns="value").rename(columns={"alpha": "value"})
    )
    job.write_supplement(weights[[*KEYS, "value"]], "weights", {"MAP": 1, "nDCG": 1})
    if "other_negatives_csv" in snakemake.output.keys():
        other_table = table(RankingRuns.of_job(snakemake, settings.other_setting))
        job.write_supplement(other_table[[*KEYS, "value", "marker"]], "other_negatives", DECIMALS)
