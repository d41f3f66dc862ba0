"""Table A.1: demographics of the workers of both studies."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_studies import DEMOGRAPHICS, read_answers
from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.counts import exact_quotient

with ResultJob(snakemake) as job:
    rows = []
    for demographic, options in DEMOGRAPHICS.items():
        for study, path in (
            ("Answerability", snakemake.input.answerability),
            ("Viewpoint", snakemake.input.viewpoints),
        ):
            # The file repeats a worker's answer for each pair of the HIT.
            pairs = snakemake.params.pairs_per_hit
            counts = read_answers(Path(path), demographic.lower(), options).value_counts()
            rows += [
                (demographic, name, study, "n_workers", exact_quotient(counts[name], pairs))
                for name in options
            ]
    job.write_table(
        pd.DataFrame(rows, columns=["demographic", "option", "study", "metric", "value"])
    )
