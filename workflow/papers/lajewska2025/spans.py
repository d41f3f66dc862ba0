"""Agreement of annotators who mark snippets in a text, for chapter 5 of lajewska2025.

Also their overlap with experts, their time and their reward.

All measures count characters. `mark_characters` represents the marks of n people in a text of L
characters as a boolean array of shape (n, L), with one row per person.

Source: lajewska2025, sections 5.2 (equation 5.1 onwards) and 5.3 (Table 5.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.errors import DataError
from everycell.text.sentences import Span

Aggregation = Literal["mean", "majority", "similarity"]
AGGREGATIONS: tuple[Aggregation, ...] = ("mean", "majority", "similarity")


def first_overlap(spans: Sequence[Span]) -> tuple[Span, Span] | None:
    """First two spans of an annotation that share a character, or None."""
    ordered = sorted(spans)
    for previous, following in zip(ordered, ordered[1:], strict=False):
        if following[0] < previous[1]:
            return previous, following
    return None


class Overlap(NamedTuple):
    """Overlap of the characters that two people marked; all values from 0 to 1."""

    precision: float
    recall: float
    f1: float


def mark_characters(
    annotations: Sequence[Sequence[Span]],
    length: int,
    *,
    overlapping: Literal["error", "union"] = "error",
) -> BoolArray:
    """Boolean array of the characters that each person marked."""
    marks = np.zeros((len(annotations), length), dtype=bool)
    for person, spans in enumerate(annotations):
        if overlapping == "error" and (overlap := first_overlap(spans)):
            raise DataError(
                row=f"annotation {person}",
                column="spans",
                value=overlap,
                fault="which overlap",
                fix="correct them, or allow overlaps with overlapping='union'",
            )
        for start, end in spans:
            marks[person, start:end] = True
    return marks


def clip(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Restrict the spans of a text to a part of it, such as a sentence."""
    return [
        (max(first, start) - start, min(last, end) - start)
        for first, last in spans
        if first < end and last > start
    ]


def align(part: str, context: str) -> tuple[IntArray, IntArray]:
    """Positions of a part's letters and digits in the part itself and in the full text.

    This aligns two copies of a text that differ in quotes, dashes, blanks or non-ASCII letters, and
    therefore in their offsets.
    """
    in_part, in_context = (
        [position for position, letter in enumerate(text) if letter.isascii() and letter.isalnum()]
        for text in (part, context)
    )
    letters = "".join(part[position] for position in in_part)
    start = "".join(context[position] for position in in_context).find(letters)
    if not letters or start < 0:
        raise DataError(
            column="sentence",
            value=part,
            fault=f"whose letters and digits are not in the passage {context[:40]!r}",
            fix="give a sentence and the passage that contains it",
        )
    return np.array(in_part), np.array(in_context[start : start + len(letters)])


def jaccard(people: npt.ArrayLike, k: int | None = None) -> float:
    """Share of the marked characters that at least k people marked (J, J_k)."""
    people = np.asarray(people)
    k = len(people) if k is None else k
    counts = people.sum(axis=0)
    marked_by_any = np.count_nonzero(counts)
    return float(np.count_nonzero(counts >= k) / marked_by_any) if marked_by_any else 1.0


def mean_jaccard(texts: Mapping[Any, npt.ArrayLike], k: int | None = None) -> float:
    """Mean of `jaccard` over texts of equally many people, each with the same weight."""
    return float(np.mean([jaccard(people, k) for people in texts.values()]))


def reference_similarity(
    workers: npt.ArrayLike, experts: npt.ArrayLike, aggregation: Aggregation = "mean"
) -> Overlap:
    """Overlap of workers' marks with experts' marks in a text, in both directions."""
    workers, experts = np.asarray(workers), np.asarray(experts)
    if aggregation == "majority":
        workers = (2 * workers.sum(axis=0) > len(workers))[None]
    elif aggregation == "similarity":
        workers = workers[[most_similar(workers)]]
    return Overlap(*(float(values.mean()) for values in _overlaps(workers, experts)))


def most_similar(workers: npt.ArrayLike) -> int:
    """Row of the worker whose marks have the highest mean F1 with those of the others."""
    workers = np.asarray(workers)
    f1 = _overlaps(workers, workers)[2]
    np.fill_diagonal(f1, 0.0)
    # Rounded, so that a tie does not depend on the order of summation.
    return int(np.argmax(np.round(f1.sum(axis=1), 12)))


def _overlaps(
    people: BoolArray, references: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Precision, recall and F1 of all pairs, shape (n, m) each."""
    shared = people.astype(float) @ references.T.astype(float)
    sizes, reference_sizes = people.sum(axis=1)[:, None], references.sum(axis=1)[None]

    def divide_shared(total: npt.NDArray) -> FloatArray:
        return np.divide(shared, total, out=np.zeros_like(shared), where=shared > 0)

    # F1 is 2pr / (p + r), simplified to avoid dividing by zero.
    f1 = 2 * divide_shared(sizes + reference_sizes)
    return divide_shared(sizes), divide_shared(reference_sizes), f1


class Effort(NamedTuple):
    """Effort per person and passage: median time and mean reward."""

    passages: int
    seconds: float
    reward: float


def passage_effort(
    tasks: pd.DataFrame, people: int, selection: pd.DataFrame | None = None
) -> Effort:
    """Time and reward per passage, annotated in one task or sentence by sentence."""
    if selection is None:
        passages = len(tasks[["turn_id", "passage_id"]].drop_duplicates())
        return Effort(passages, float(tasks["seconds"].median()), float(tasks["reward"].mean()))
    selecting = passage_effort(selection, 1)
    sentences = len(tasks) / people / selecting.passages
    return Effort(
        selecting.passages,
        selecting.seconds + sentences * float(tasks["seconds"].median()),
        selecting.reward + sentences * float(tasks["reward"].mean()),
    )


def mean_effort(parts: Sequence[Effort]) -> Effort:
    """Mean over parts, such as topics, weighted by their numbers of passages."""
    passages = sum(part.passages for part in parts)
    seconds, reward = (
        math.fsum(part.passages * value for part, value in zip(parts, values, strict=True))
        / passages
        for values in ([part.seconds for part in parts], [part.reward for part in parts])
    )
    return Effort(passages, seconds, reward)
