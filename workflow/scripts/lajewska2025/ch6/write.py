"""Responses that a language model writes: in one step, from clusters, and rewritten."""

from pathlib import Path

import pandas as pd

from everycell.engine.job import Job
from everycell.language_models.jobs import model_of_job
from everycell.language_models.settings import Decoding
from everycell.studies.lajewska2025.ch6.systems import IRRELEVANT, RELEVANT
from everycell.studies.lajewska2025.ch6.written import (
    ALL_WRITTEN,
    WRITTEN,
    WRITTEN_ON_OTHER_INPUT,
    Writer,
    written_responses,
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
            {name: Path(path) for name, path in params.prompts.items()},
            clusters=params.clusters,
            sentences=params.sentences,
            words=params.words,
        )
        clusters, ranks = pd.read_parquet(files.clusters), pd.read_parquet(files.ranks)
        found = []
        for kind, systems in variants.items():
            topics = list(dict.fromkeys(nuggets.loc[nuggets["input"] == kind, "topic"]))
            responses = written_responses(
                writer,
                passages,
                nuggets,
                clusters,
                ranks,
                topics[: params.questions],
                kind=kind,
                systems=systems,
            )
            found.append(responses)
    job.write_frame(pd.concat(found, ignore_index=True), "responses")
