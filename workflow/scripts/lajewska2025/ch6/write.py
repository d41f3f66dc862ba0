"""Responses written by a language model: in one step, from clusters, and rewritten."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.settings import Decoding
from everycell.studies.lajewska2025.ch6.systems import IRRELEVANT, REASONED, RELEVANT
from everycell.studies.lajewska2025.ch6.writing import (
    ALL_WRITTEN,
    WRITTEN,
    WRITTEN_ON_OTHER_INPUT,
    Writer,
    write_responses,
)

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    passages, nuggets = pd.read_parquet(files.passages), pd.read_parquet(files.nuggets)
    variants = {RELEVANT: ALL_WRITTEN if params.everything else WRITTEN}
    if params.everything:
        variants[IRRELEVANT] = WRITTEN_ON_OTHER_INPUT
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
        clusters, ranks = pd.read_parquet(files.clusters), pd.read_parquet(files.ranks)
        frames = []
        for kind, systems in variants.items():
            topics = list(dict.fromkeys(nuggets.loc[nuggets["input"] == kind, "topic"]))
            responses = write_responses(
                writer,
                passages,
                nuggets,
                clusters,
                ranks,
                topics[: params.questions],
                kind=kind,
                systems=systems,
                chain_of_thought=params.everything,
            )
            frames.append(responses)
    responses = pd.concat(frames, ignore_index=True)
    unanswered = responses[(responses["system"] == REASONED) & (responses["sentence"] == 0)]
    job.log.write(f"{len(unanswered)} chains of thought end without an answer.\n")
    job.write_frame(responses, "responses")
