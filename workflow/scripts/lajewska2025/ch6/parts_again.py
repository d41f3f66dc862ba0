"""Table 6.8 with three of the user's language models as judges."""

import json
from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.judging import strict_scores
from everycell.studies.lajewska2025.ch6.nuggets import TEST_DECIMALS
from everycell.studies.lajewska2025.ch6.parts import parts_tables

with ResultJob(snakemake) as job:
    job.facts["language_models"] = [
        json.loads(Path(file).read_text()) for file in snakemake.input.provenance
    ]
    labels = [pd.read_parquet(path) for path in snakemake.input.labels]
    tables = parts_tables(strict_scores({str(frame["judge"].iloc[0]): frame for frame in labels}))
    job.write_table(tables.cells)
    job.write_supplement(tables.tests, "tests", TEST_DECIMALS)
    job.write_supplement(tables.changes, "changes", {"difference": 3, "low": 3, "high": 3, "p": 4})
