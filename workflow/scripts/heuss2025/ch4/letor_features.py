"""Judged feature vectors in the form of LETOR, with a file of list lengths or without."""

from pathlib import Path

from everycell.collections.letor import read_letor
from everycell.engine.job import Job

with Job(snakemake) as job:
    inputs = snakemake.input
    for part in ("train", "test"):
        lengths = inputs.get(f"{part}_lengths")
        table = read_letor(
            Path(inputs[part]),
            lengths=Path(lengths) if lengths else None,
            features=snakemake.params.features,
        )
        job.write_frame(table, part)
