"""Nuggets that a language model marks in passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Template
from typing import NamedTuple

import pandas as pd

from everycell.collections.snippets import Span
from everycell.language_models.generation import Message
from everycell.rag.grounded.detection import OPENING, detection_prompt, marked_spans


class DetectedSpans(NamedTuple):
    """Spans of all passages, and counts of unusable answers."""

    #: Input, topic and passage -> spans.
    spans: dict[tuple[str, str, str], tuple[Span, ...]]
    #: Number of texts that the model marked.
    marks: int
    #: Number of marked texts that do not occur in their passage.
    strays: int
    #: Number of passages without a mark.
    unmarked: int


def detect_spans(
    passages: pd.DataFrame,
    template: Template,
    ask: Callable[[Sequence[tuple[Message, ...]]], Sequence[str]],
) -> DetectedSpans:
    """Ask the model for the nuggets of all passages that have text."""
    rows = list(passages.itertuples(index=False))
    with_text = [row for row in rows if row.text.strip()]
    answers = ask([detection_prompt(template, row.question, row.text) for row in with_text])
    spans: dict[tuple[str, str, str], tuple[Span, ...]] = {
        (row.input, row.topic, row.passage_id): () for row in rows
    }
    strays, unmarked, marks = 0, len(rows) - len(with_text), 0
    for row, answer in zip(with_text, answers, strict=True):
        parsed = marked_spans(row.text, answer)
        spans[row.input, row.topic, row.passage_id] = parsed.spans
        marks += answer.count(OPENING)
        strays += len(parsed.strays)
        unmarked += OPENING not in answer
    return DetectedSpans(spans, marks, strays, unmarked)
