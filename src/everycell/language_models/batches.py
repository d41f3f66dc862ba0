"""Batches of requests, which a local model on a GPU answers in about the time of one."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol

from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    Request,
)

_LOG = logging.getLogger(__name__)


class MemoryFullError(LanguageModelError):
    """A batch does not fit into memory; for a single request, the message says what to do."""


class BatchModel(Protocol):
    """A `LanguageModel` that answers several requests at once."""

    @property
    def identity(self) -> Identity:
        """Identity of the model."""

    def answer_batch(self, requests: Sequence[Request]) -> list[Answer]:
        """Answers to requests that differ only in their prompts, scored texts and seeds."""


def answer_in_batches(
    model: BatchModel, requests: Sequence[Request], size: int
) -> Iterator[list[tuple[Request, Answer]]]:
    """Answer requests in batches, the longest prompts first."""
    # Sorting is stable: first by kind, and within it by length.
    ordered = sorted(requests, key=lambda request: (_kind(request), -len(request.text)))
    for _, group in groupby(ordered, key=_kind):
        waiting = list(group)
        while waiting:
            part = waiting[:size]
            try:
                answers = model.answer_batch(part)
            except MemoryFullError:
                if len(part) == 1:
                    raise
                size = len(part) // 2
                _LOG.warning(
                    "%s: %d requests at once do not fit into memory; continuing with %d. Set "
                    "`batch` "
                    "to this number to begin with it.",
                    model.identity.name,
                    len(part),
                    size,
                )
                continue
            waiting = waiting[len(part) :]
            yield list(zip(part, answers, strict=True))


def _kind(request: Request) -> str:
    """What requests of a batch have in common."""
    if request.decoding is None:
        return ""
    return request.decoding.model_copy(update={"seed": None}).model_dump_json()
