"""Numbers of section 5.5, measured on a language model."""

import json
from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob

with ResultJob(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    job.facts["language_models"] = [json.loads(Path(file).read_text()) for file in files.provenance]
    numbers = [pd.read_parquet(file) for file in files.numbers]
    first = numbers[0].drop(columns="answerer")
    # Claims about repeated answers are meaningless for a model that is given the answer.
    job.write_table(first[~first["claim"].isin(params.untold)].reset_index(drop=True))
    tables = {"measured": [pd.read_parquet(file) for file in files.answers]}
    if "right" in files.keys():
        tables["right"] = [pd.read_parquet(file) for file in files.right]
    else:
        tables["models"] = numbers
    for name, parts in tables.items():
        job.write_supplement(pd.concat(parts, ignore_index=True), name, {"all": 1})
