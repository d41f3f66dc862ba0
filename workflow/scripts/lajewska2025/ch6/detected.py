"""Tables C.3 and C.4: nuggets detected by a language model, compared with human nuggets."""

import json
from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.inputs import REFERENCES
from everycell.studies.lajewska2025.ch6.sizes import nugget_sizes

with ResultJob(snakemake) as job:
    files = snakemake.input
    job.facts["language_models"] = [json.loads(Path(files.provenance).read_text())]
    agreed = pd.read_parquet(files.agreement)
    first_agreement = agreed[(agreed["reference"] == REFERENCES[0]) & (agreed["metric"] == "F1")]
    first_agreement = first_agreement.assign(row="Detected by GPT-4", metric="ROUGE F1")
    job.write_table(first_agreement[["row", "metric", "value"]])
    job.write_table(nugget_sizes(pd.read_parquet(files.nuggets)), artefact="table_C_4")
    keys = ["detection", "reference", "metric", "value"]
    job.write_supplement(
        agreed[keys], "agreement", {"precision": 2, "recall": 2, "F1": 2}, "table_C_4"
    )
