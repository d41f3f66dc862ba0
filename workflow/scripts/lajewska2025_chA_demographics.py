"""Table A.1: demographics of the workers of both studies."""

from pathlib import Path

import pandas as pd
from job import Job

from everycell.collections.user_studies import DEMOGRAPHICS, read_answers

with Job(snakemake) as job:
    rows = []
    for demographic, options in DEMOGRAPHICS.items():
        for study, path in (
            ("Answerability", snakemake.input.answerability),
            ("Viewpoint", snakemake.input.viewpoints),
        ):
            # A worker's answer is repeated with each of the pairs of the HIT.
            pairs = snakemake.params.pairs_per_hit
            counts = read_answers(Path(path), demographic.lower(), options).value_counts()
            if (counts % pairs).any():
                raise ValueError(
                    f"{path}: the answers to {demographic!r} do not come {pairs} a worker; fetch "
                    "the file again (delete it first)."
                )
            rows += [
                (demographic, name, study, "n_workers", counts[name] // pairs) for name in options
            ]
    job.write_table(
        pd.DataFrame(rows, columns=["demographic", "option", "study", "metric", "value"])
    )
