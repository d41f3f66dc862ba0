"""What a language model says that the released responses support."""

from pathlib import Path

from everycell.collections.ginger_responses import read_responses
from everycell.collections.nugget_labels import JUDGES, read_nugget_labels
from everycell.engine.job import Job
from everycell.language_models.jobs import asking, model_of_job
from everycell.language_models.settings import Decoding
from everycell.studies.lajewska2025.ch6.judging import judged_again

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    labels = read_nugget_labels(*map(Path, files.labels)).nuggets
    decoding = Decoding(max_tokens=params.max_tokens)
    with model_of_job(snakemake, job.log) as model:
        ask = asking(model, decoding)
        found = judged_again(
            labels[labels["judge"] == JUDGES[params.judge]],
            read_responses(map(Path, files.responses)),
            ask,
            topics=params.topics,
        )
    job.write_frame(found.assign(judge=params.judge), "labels")
