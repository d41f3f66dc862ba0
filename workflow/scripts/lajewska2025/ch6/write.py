"""Responses that a language model writes: in one step, from clusters, and rewritten."""

from pathlib import Path

import pandas as pd

from everycell.engine.job import Job
from everycell.engine.receipts import write_json
from everycell.engine.settings import part_of
from everycell.language_models.answering import open_language_model
from everycell.language_models.settings import AskSettings, Decoding
from everycell.studies.lajewska2025.ch6.written import Writer, written_responses

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    settings = part_of(snakemake.config, AskSettings)
    nuggets = pd.read_parquet(files.nuggets)
    topics = list(dict.fromkeys(nuggets.loc[nuggets["input"] == "relevant", "topic"]))
    with open_language_model(
        params.model,
        settings.language_models,
        params.record,
        folder=Path(files.model) if files.model else None,
        network=settings.network,
    ) as model:
        writer = Writer(
            model,
            Decoding(max_tokens=params.max_tokens),
            {name: Path(path) for name, path in params.prompts.items()},
            clusters=params.clusters,
            sentences=params.sentences,
            words=params.words,
        )
        found = written_responses(
            writer,
            pd.read_parquet(files.passages),
            nuggets,
            pd.read_parquet(files.clusters),
            pd.read_parquet(files.ranks),
            topics[: params.questions],
        )
        job.log.write(f"{model.identity.name}: {model.asked} requests were not recorded.\n")
        write_json(Path(snakemake.output.provenance), model.provenance())
    job.write_frame(found, "responses")
