"""Table 3.2: satisfied and dissatisfied samples of each part, by several readings."""

from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import USER
from everycell.collections.satisfaction_splits import split_samples
from everycell.collections.user_satisfaction import FILES, RULES, read_dialogues, read_split
from everycell.engine.result_job import ResultJob

#: Reading -> what it changes; the first is the table's.
READINGS = {
    "as in the table": {},
    "training samples with their own dialogue's label": {"same_label": False},
    "a window of the user's utterances": {"window": USER},
    "both": {"same_label": False, "window": USER},
    **{f"rating: {name}": {"rule": rule} for name, rule in list(RULES.items())[1:]},
}


def sizes(samples):
    """Rows of the table."""
    satisfied = sum(sample.satisfied for sample in samples)
    return {
        "Satisfaction": satisfied,
        "Dissatisfaction": len(samples) - satisfied,
        "Total": len(samples),
    }


with ResultJob(snakemake) as job:
    table, readings = [], []
    for benchmark in FILES:
        files = {part: Path(snakemake.input[f"{benchmark}_{part}"]) for part in FILES[benchmark]}
        dialogues = read_dialogues(files["ratings"])
        held = [read_split(files[part]) for part in ("valid", "test")]
        for reading, options in READINGS.items():
            split = split_samples(dialogues, *held, benchmark, **options)._asdict()
            for part, samples in split.items():
                found = sizes(samples)
                where = f"{benchmark} {part}"
                readings += [(reading, row, where, count) for row, count in found.items()]
                if not options:
                    name = part.capitalize()
                    table += [(row, benchmark, name, "count", n) for row, n in found.items()]
    keys = ["row", "dataset", "split", "metric", "value"]
    job.write_table(pd.DataFrame(table, columns=keys))
    beside = pd.DataFrame(readings, columns=["reading", "row", "metric", "value"])
    job.write_beside(beside, "readings", dict.fromkeys(beside["metric"], 0))
