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
            answers = read_answers(Path(path), demographic.lower(), options)
            counts = answers.value_counts() // snakemake.params.pairs_per_hit
            rows += [(demographic, name, study, "n_workers", counts[name]) for name in options]
    job.write_table(
        pd.DataFrame(rows, columns=["demographic", "option", "study", "metric", "value"])
    )
