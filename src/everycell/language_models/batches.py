"""Batches of requests, which a local model on a GPU answers in about the time that one takes."""

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
    """A batch does not fit in memory; for a single request, the message says what to do."""


class BatchModel(Protocol):
    """A `LanguageModel` that answers several requests at once."""

    @property
    def identity(self) -> Identity:
        """Identity of the model."""

    def answer_batch(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer requests that differ only in their prompts, scored texts and seeds."""


def answer_in_batches(
    model: BatchModel, requests: Sequence[Request], size: int
) -> Iterator[list[tuple[Request, Answer]]]:
    """Answer requests in batches, the longest prompts first."""
    # By kind, and within a kind by decreasing length. groupby requires this order.
    ordered = sorted(requests, key=lambda request: (_kind(request), -len(request.text)))
    for _, group in groupby(ordered, key=_kind):
        remaining = list(group)
        while remaining:
            batch = remaining[:size]
            try:
                answers = model.answer_batch(batch)
            except MemoryFullError:
                if len(batch) == 1:
                    raise
                size = len(batch) // 2
                _LOG.warning(
                    "%s: a batch of %d requests does not fit into memory; continuing with %d. Set "
                    "`batch` to this number to start with it.",
                    model.identity.name,
                    len(batch),
                    size,
                )
                continue
            remaining = remaining[len(batch) :]
            yield list(zip(batch, answers, strict=True))


def _kind(request: Request) -> str:
    """Decoding parameters that the requests of a batch share: all but the seed."""
    if request.decoding is None:
        return ""
    return request.decoding.model_copy(update={"seed": None}).model_dump_json()
