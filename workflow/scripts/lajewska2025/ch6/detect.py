"""Nuggets that a language model marks in passages, and their agreement with human marks."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.language_models.templates import read_template
from everycell.rag.grounded.detection import SLOTS, TEMPLATE
from everycell.studies.lajewska2025.ch6.detection import detect_spans
from everycell.studies.lajewska2025.ch6.inputs import (
    agreement_with_people,
    nuggets_by_detection,
    read_human_marks,
)
from everycell.studies.lajewska2025.ch6.systems import GOLD

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    passages, nuggets = pd.read_parquet(files.passages), pd.read_parquet(files.nuggets)
    topics = list(dict.fromkeys(passages["topic"]))[: params.questions]
    topic_passages = passages[passages["topic"].isin(topics)].reset_index(drop=True)
    template = read_template(Path(files.template or TEMPLATE), SLOTS, last="passage")
    decoding = Decoding(max_tokens=params.max_tokens)
    with model_of_job(snakemake, job.log) as model:
        ask = answer_function(model, decoding)
        detected = detect_spans(topic_passages, template, ask)
        job.log.write(
            f"{detected.strays} of {detected.marks} marked texts do not occur in their passage; "
            f"{detected.unmarked} of {len(topic_passages)} passages have no mark.\n"
        )
    people = nuggets[(nuggets["detection"] == GOLD) & nuggets["topic"].isin(topics)]
    gold = {
        keys: tuple(zip(rows["start"], rows["end"], strict=True))
        for keys, rows in people.groupby(["topic", "passage_id"], sort=False)
    }
    job.write_frame(nuggets_by_detection(topic_passages, gold, detected.spans), "nuggets")
    agreed = agreement_with_people(topic_passages, read_human_marks(files.dataset), detected.spans)
    job.write_frame(agreed.assign(detection=params.model), "agreement")
