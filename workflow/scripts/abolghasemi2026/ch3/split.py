"""Table 3.2: satisfied and dissatisfied samples per part, under several interpretations."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_satisfaction import FILES, read_dialogues, read_split
from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch3.data import READINGS, part_sizes

with ResultJob(snakemake) as job:
    rows = []
    for benchmark in FILES:
        files = {part: Path(snakemake.input[f"{benchmark}_{part}"]) for part in FILES[benchmark]}
        held_out = [read_split(files[part]) for part in ("valid", "test")]
        sizes = part_sizes(read_dialogues(files["ratings"]), held_out, benchmark)
        rows.append(sizes.assign(dataset=benchmark))
    sizes = pd.concat(rows)
    table = sizes[sizes["reading"] == next(iter(READINGS))].assign(metric="count")
    table = table.assign(split=table["part"].str.capitalize())
    job.write_table(table[["row", "dataset", "split", "metric", "value"]])
    readings = sizes.assign(metric=sizes["dataset"] + " " + sizes["part"])
    readings = readings[["reading", "row", "metric", "value"]]
    job.write_supplement(readings, "readings", dict.fromkeys(readings["metric"], 0))
