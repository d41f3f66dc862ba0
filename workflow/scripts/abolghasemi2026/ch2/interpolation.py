"""Table 2.3: BM25 with TILDE and with TILDEv2 under one weight, tuned on validation topics."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.retrieval.system_tables import as_printed, interpolation_table, letters_note
from everycell.studies.abolghasemi2026.ch2.ranking_runs import DECIMALS, KEYS, RankingRuns


def table(found: RankingRuns, details: dict[str, str], scaling: str, level: float) -> pd.DataFrame:
    """Single systems and the combinations of the first one with each other one."""
    first, *others = found.runs
    combinations = {
        f"{first}+{other}": by_task for other, by_task in found.pairings(scaling).items()
    }
    details = details | {
        f"{first}+{other}": f"{details[first]} + {details[other]}" for other in others
    }
    singles = {task: found.values(task) for task in found.tasks}
    quality = as_printed(interpolation_table(singles, combinations, level=level))
    return quality.assign(model=quality["system"], detail=quality["system"].map(details))


with ResultJob(snakemake) as job:
    settings = snakemake.params
    details = {model: detail for _, model, detail, _ in settings.systems}
    choices = (details, settings.scaling, settings.alpha)
    main = table(RankingRuns.of_job(snakemake), *choices)
    job.write_table(main[[*KEYS, "value", "marker"]], note=letters_note(main))
    weights = main.dropna(subset="alpha").drop(columns="value").rename(columns={"alpha": "value"})
    job.write_beside(weights[[*KEYS, "value"]], "weights", {"MAP": 1, "nDCG": 1})
    if "other_negatives_csv" in snakemake.output.keys():
        other = table(RankingRuns.of_job(snakemake, settings.other_setting), *choices)
        job.write_beside(other[[*KEYS, "value", "marker"]], "other_negatives", DECIMALS)
