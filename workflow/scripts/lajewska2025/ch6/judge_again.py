"""What a language model says that responses support, with the facts of a judge of the thesis."""

from pathlib import Path

import pandas as pd

from everycell.collections.ginger_responses import read_responses
from everycell.collections.nugget_labels import JUDGES, read_nugget_labels
from everycell.engine.job import Job
from everycell.language_models.jobs import asking, model_of_job
from everycell.language_models.settings import Decoding
from everycell.rag.grounded.autonuggetizer import read_prompt
from everycell.studies.lajewska2025.annotations import paths
from everycell.studies.lajewska2025.ch6.judging import judge_again

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    released = read_nugget_labels(*map(Path, files.labels))
    labels = released.nuggets
    files_of_responses = paths(files.responses)
    # Those that this project wrote are a frame, the released ones are tables.
    written = files_of_responses[0].suffix == ".parquet"
    responses = (
        pd.read_parquet(files_of_responses[0]) if written else read_responses(files_of_responses)
    )
    decoding = Decoding(max_tokens=params.max_tokens)
    template = read_prompt("assign", Path(files.prompt) if files.prompt else None)
    with model_of_job(snakemake, job.log) as model:
        judged = judge_again(
            labels[labels["judge"] == JUDGES[params.judge]],
            responses,
            asking(model, decoding),
            topics=params.topics,
            known_topics=set(released.responses["topic"]),
            template=template,
        )
    job.write_frame(judged.assign(judge=params.judge), "labels")
