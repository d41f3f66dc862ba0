"""Support labels of responses for nuggets that the same language model created."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.rag.grounded.autonuggetizer import read_prompt
from everycell.studies.lajewska2025.ch6.creating import assign_topic_nuggets

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    template = read_prompt("assign", Path(files.prompt) if files.prompt else None)
    with model_of_job(snakemake, job.log) as model:
        assigned = assign_topic_nuggets(
            pd.read_parquet(files.nuggets),
            pd.read_parquet(files.responses),
            answer_function(model, Decoding(max_tokens=params.max_tokens)),
            template,
        )
    job.write_frame(assigned.assign(judge=params.judge), "labels")
