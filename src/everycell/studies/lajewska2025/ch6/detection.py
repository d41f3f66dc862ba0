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
    """Spans of all passages, and what could not be used."""

    #: Input, topic and passage -> spans.
    spans: dict[tuple[str, str, str], tuple[Span, ...]]
    #: Texts that the model marked.
    marked: int
    #: Marked texts that are not in their passage.
    strays: int
    #: Passages without a mark.
    unmarked: int


def detect_spans(
    passages: pd.DataFrame,
    template: Template,
    ask: Callable[[Sequence[tuple[Message, ...]]], Sequence[str]],
) -> DetectedSpans:
    """Ask for the nuggets of all passages; of one without text nobody is asked."""
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
