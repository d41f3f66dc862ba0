"""Detection of nuggets: spans of passages that help to answer a question.

Source: lajewska2025, section 6.2 (L1668), and its prompt (L2758), from which the tags are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.language_models import templates
from everycell.language_models.generation import Message
from everycell.language_models.reasoning import without_reasoning
from everycell.text.sentences import Span

#: Tags around a nugget.
OPENING, CLOSING = "<IN>", "</IN>"
#: Columns of a frame of nuggets: `nugget` is a number per topic, from 1; `start` and `end` are
#: positions in the passage.
COLUMNS = ("topic", "passage_id", "nugget", "start", "end", "text")
TEMPLATE = Path(__file__).parent / "templates" / "detection.txt"
SLOTS: templates.Slots = {
    "question": ("the question", True),
    "passage": ("the passage to mark", True),
}


class Detection(NamedTuple):
    """Nuggets of a passage, and marked texts that are not in the passage (strays)."""

    spans: tuple[Span, ...]
    strays: tuple[str, ...]


def detection_prompt(template: Template, question: str, passage: str) -> tuple[Message, ...]:
    """Ask for a passage with its nuggets marked."""
    return templates.fill(template, question=question, passage=passage)


def marked_spans(passage: str, answer: str) -> Detection:
    """Spans of a passage that an answer has marked; only white space may differ.

    Each marked text is located after the previous one if possible, otherwise anywhere. If marks
    overlap, the first one counts. A tag without its partner is ignored.
    """
    spans: list[Span] = []
    strays = []
    offset = 0
    pattern = rf"{re.escape(OPENING)}((?:(?!{re.escape(OPENING)}).)*?){re.escape(CLOSING)}"
    for text in re.findall(pattern, without_reasoning(answer), flags=re.DOTALL):
        words = text.split()
        if not words:
            continue
        regex = re.compile(r"\s+".join(map(re.escape, words)))
        match = regex.search(passage, offset) or regex.search(passage)
        if match is None:
            strays.append(" ".join(words))
        elif all(match.end() <= start or match.start() >= end for start, end in spans):
            spans.append(match.span())
            offset = match.end()
    return Detection(tuple(sorted(spans)), tuple(strays))


def agreed_spans(
    people: npt.ArrayLike, text: str, *, minimum: int, shortest: int = 1
) -> tuple[Span, ...]:
    """Sequences of words that enough people marked."""
    marks = np.asarray(people, dtype=bool)
    is_agreed = marks.sum(axis=0) >= minimum
    parts: list[list[Span]] = [[]]
    for word in re.finditer(r"\S+", text):
        if 2 * is_agreed[word.start() : word.end()].sum() >= word.end() - word.start():
            parts[-1].append(word.span())
        elif parts[-1]:
            parts.append([])
    return tuple((part[0][0], part[-1][1]) for part in parts if len(part) >= shortest)


def nuggets_frame(
    spans: Mapping[tuple[str, str], Sequence[Span]], passages: Mapping[tuple[str, str], str]
) -> pd.DataFrame:
    """Nuggets of several passages as a frame."""
    rows = []
    counts: dict[str, int] = {}
    for (topic, passage), text in passages.items():
        for start, end in spans.get((topic, passage), ()):
            counts[topic] = counts.get(topic, 0) + 1
            rows.append((topic, passage, counts[topic], start, end, text[start:end]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def size_statistics(counts: Iterable[int], lengths: Iterable[float]) -> dict[str, float]:
    """Mean, median and maximum of counts, and mean of lengths (Tables C.4 and C.5)."""
    numbers, characters = np.array(list(counts), float), np.array(list(lengths), float)
    return {
        "avg": float(numbers.mean()),
        "med": float(np.median(numbers)),
        "max": float(numbers.max()),
        "length": float(characters.mean()),
    }
