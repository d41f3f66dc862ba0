"""Responses of all runs to topics of TREC RAG 2024, written by a language model."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.settings import Decoding
from everycell.studies.lajewska2025.ch6.rag24 import rag_responses, responses_to_judge
from everycell.studies.lajewska2025.ch6.writing import Writer

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    passages = pd.read_parquet(files.passages)
    with model_of_job(snakemake, job.log) as model:
        writer = Writer(
            model,
            Decoding(max_tokens=params.max_tokens),
            Decoding(max_tokens=params.reasoning_tokens),
            {name: Path(path) for name, path in params.prompts.items()},
            clusters=params.clusters,
            sentences=params.sentences,
            words=params.words,
        )
        responses = rag_responses(
            writer,
            passages,
            *map(pd.read_parquet, (files.nuggets, files.clusters, files.ranks)),
        )
    questions = passages.groupby("topic")["question"].first().to_dict()
    judged_responses = responses_to_judge(responses, questions)
    empty = judged_responses[judged_responses["text"].str.strip() == ""].groupby("run").size()
    job.log.write(f"Empty responses by run: {empty.to_dict()}\n")
    job.write_frame(responses, "sentences")
    job.write_frame(judged_responses, "responses")
