"""Nuggets that a language model marks in the passages, and how far people marked the same."""

from pathlib import Path

import pandas as pd

from everycell.engine.job import Job
from everycell.engine.receipts import write_json
from everycell.engine.settings import part_of
from everycell.language_models.answering import open_language_model
from everycell.language_models.generation import Request
from everycell.language_models.settings import AskSettings, Decoding
from everycell.language_models.templates import read_template
from everycell.rag.grounded.detection import SLOTS, TEMPLATE
from everycell.studies.lajewska2025.ch6.detected import detected_spans
from everycell.studies.lajewska2025.ch6.inputs import (
    agreement_with_people,
    marks_of_people,
    nuggets_by_detection,
)
from everycell.studies.lajewska2025.ch6.systems import GOLD

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    settings = part_of(snakemake.config, AskSettings)
    passages, nuggets = pd.read_parquet(files.passages), pd.read_parquet(files.nuggets)
    topics = list(dict.fromkeys(passages["topic"]))[: params.questions]
    shown = passages[passages["topic"].isin(topics)].reset_index(drop=True)
    template = read_template(Path(files.template or TEMPLATE), SLOTS, last="passage")
    decoding = Decoding(max_tokens=params.max_tokens)
    with open_language_model(
        params.model,
        settings.language_models,
        params.record,
        folder=Path(files.model) if files.model else None,
        network=settings.network,
    ) as model:

        def ask(prompts):
            """Answers of the model, each recorded."""
            requests = [Request(prompt=messages, decoding=decoding) for messages in prompts]
            return [answer.text for answer in model.answer_all(requests)]

        found = detected_spans(shown, template, ask)
        job.log.write(
            f"{model.identity.name}: {model.asked} requests were not recorded. Of {found.marked} "
            f"marked texts {found.strays} do not stand in their passage; {found.unmarked} of "
            f"{len(shown)} passages have no mark.\n"
        )
        write_json(Path(snakemake.output.provenance), model.provenance())
    people = nuggets[(nuggets["detection"] == GOLD) & nuggets["topic"].isin(topics)]
    gold = {
        keys: tuple(zip(rows["start"], rows["end"], strict=True))
        for keys, rows in people.groupby(["topic", "passage_id"], sort=False)
    }
    job.write_frame(nuggets_by_detection(shown, gold, found.spans), "nuggets")
    agreed = agreement_with_people(shown, marks_of_people(files.dataset), found.spans)
    job.write_frame(agreed.assign(detection=params.model), "agreement")
