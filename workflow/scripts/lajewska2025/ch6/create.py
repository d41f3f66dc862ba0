"""Nuggets that a language model creates from a topic's passages, with their importance."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.rag.grounded.autonuggetizer import read_prompt
from everycell.studies.lajewska2025.ch6.creating import create_topic_nuggets

with Job(snakemake) as job:
    params = snakemake.params
    passages = pd.read_parquet(snakemake.input.passages).sort_values("rank", kind="stable")
    prompts = {
        name: read_prompt(name, Path(params.prompts[name]) if name in params.prompts else None)
        for name in ("create", "importance")
    }
    with model_of_job(snakemake, job.log) as model:
        ask = answer_function(model, Decoding(max_tokens=params.max_tokens))
        created = create_topic_nuggets(
            passages.drop_duplicates(["topic", "passage_id"]), ask, prompts
        )
    unlabelled = int((created["importance"] == "").sum())
    job.log.write(f"{len(created)} nuggets, {unlabelled} of them without an importance label.\n")
    job.write_frame(created.assign(judge=params.judge), "nuggets")
