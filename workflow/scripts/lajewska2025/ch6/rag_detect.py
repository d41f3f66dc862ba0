"""Nuggets that a language model marks in the passages of TREC RAG 2024."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.language_models.templates import read_template
from everycell.rag.grounded.detection import SLOTS, TEMPLATE
from everycell.studies.lajewska2025.ch6.detection import detect_spans
from everycell.studies.lajewska2025.ch6.inputs import nuggets_by_detection

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    passages = pd.read_parquet(files.passages)
    # Inputs of different sizes share passages.
    distinct = passages.sort_values("rank", kind="stable").drop_duplicates(["topic", "passage_id"])
    template = read_template(Path(files.template or TEMPLATE), SLOTS, last="passage")
    with model_of_job(snakemake, job.log) as model:
        ask = answer_function(model, Decoding(max_tokens=params.max_tokens))
        result = detect_spans(distinct, template, ask)
    job.log.write(
        f"{result.strays} of {result.marks} marked texts do not occur in their passage; "
        f"{result.unmarked} of {len(distinct)} passages have no mark.\n"
    )
    spans = {(topic, passage): own for (_, topic, passage), own in result.spans.items()}
    detected = {
        (row.input, row.topic, row.passage_id): spans[row.topic, row.passage_id]
        for row in passages.itertuples(index=False)
    }
    job.write_frame(nuggets_by_detection(passages, {}, detected), "nuggets")
