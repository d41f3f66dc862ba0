"""Support labels by a language model for the nuggets of a judge of the thesis."""

from pathlib import Path

import pandas as pd

from everycell.collections.ginger import JUDGES, read_nugget_labels, read_responses
from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.rag.grounded.autonuggetizer import read_prompt
from everycell.studies.lajewska2025.ch6.judging import judge_again
from papers.lajewska2025.annotations import paths

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    released = read_nugget_labels(*map(Path, files.labels))
    labels = released.nuggets
    response_files = paths(files.responses)
    # New responses are in one Parquet file, the released ones in several tables.
    is_parquet = response_files[0].suffix == ".parquet"
    responses = pd.read_parquet(response_files[0]) if is_parquet else read_responses(response_files)
    decoding = Decoding(max_tokens=params.max_tokens)
    template = read_prompt("assign", Path(files.prompt) if files.prompt else None)
    with model_of_job(snakemake, job.log) as model:
        judged = judge_again(
            labels[labels["judge"] == JUDGES[params.judge]],
            responses,
            answer_function(model, decoding),
            topics=params.topics,
            known_topics=set(released.responses["topic"]),
            template=template,
        )
    job.write_frame(judged.assign(judge=params.judge), "labels")
