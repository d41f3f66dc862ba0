"""Open the language model of a workflow job, with its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from everycell.base.settings import validate_part
from everycell.language_models.answering import open_language_model
from everycell.language_models.generation import Message, Request
from everycell.language_models.recorded import Recorded
from everycell.language_models.settings import AskSettings, Decoding
from everycell.receipts.receipts import write_json


@contextmanager
def model_of_job(snakemake: Any, log: TextIO) -> Iterator[Recorded]:
    """Open the language model of a job, and log at the end how many requests were sent."""
    settings = validate_part(snakemake.config, AskSettings)
    files, params = snakemake.input, snakemake.params
    with open_language_model(
        params.model,
        settings.language_models,
        params.record,
        folder=Path(files.model) if files.model else None,
        also=[Path(files.recorded)] if "recorded" in files.keys() else [],
        network=settings.network,
    ) as model:
        yield model
        speed = f", {model.speed}" if model.requests_sent else ""
        log.write(
            f"{model.identity.name}: {model.requests_sent} requests were sent{speed}; all other "
            f"answers are from the record. {model.endings}.\n"
        )
        write_json(Path(snakemake.output.provenance), model.provenance())


def answer_function(
    model: Recorded, decoding: Decoding
) -> Callable[[Sequence[tuple[Message, ...]]], list[str]]:
    """Return a function from prompts to the texts of a model's answers."""

    def ask(prompts: Sequence[tuple[Message, ...]]) -> list[str]:
        requests = [Request(prompt=messages, decoding=decoding) for messages in prompts]
        return [answer.text for answer in model.answer_all(requests)]

    return ask
