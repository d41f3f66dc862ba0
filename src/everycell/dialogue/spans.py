"""Agreement of people who mark snippets in a text, and their overlap with experts.

All measures count characters. The marks of several people in a text of `L` characters are a boolean
array of shape (n, L), row i true where person i marked, made by `marked`.

Source: lajewska2025, section 5.2 (equations 5.1 and those after it).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.collections.snippets import Span, overlap, span_fault
from everycell.engine.arrays import BoolArray, FloatArray, IntArray

Aggregation = Literal["mean", "majority", "similarity"]
AGGREGATIONS: tuple[Aggregation, ...] = ("mean", "majority", "similarity")


class SpanError(ValueError):
    """Spans or marks cannot be measured; the message says why."""


class Overlap(NamedTuple):
    """Characters that two people share, as shares of what each marked; all from 0 to 1."""

    precision: float
    recall: float
    f1: float


def marked(
    annotations: Sequence[Sequence[Span]],
    length: int,
    *,
    overlapping: Literal["error", "union"] = "error",
) -> BoolArray:
    """Characters that each person marked."""
    if not annotations or length < 0:
        raise SpanError(
            f"There are {len(annotations)} annotations of a text of {length} characters: give one "
            "annotation or more, and a length of 0 or more."
        )
    marks = np.zeros((len(annotations), length), dtype=bool)
    for person, spans in enumerate(annotations):
        fault = span_fault(spans, length)
        if fault:
            raise SpanError(f"Annotation {person}: {fault}; correct or drop it.")
        both = overlap(spans)
        if both and overlapping == "error":
            (first, after) = both
            raise SpanError(
                f"Annotation {person}: the spans {first[0]} to {first[1]} and {after[0]} to "
                f"{after[1]} overlap; correct it, or allow it with overlapping='union'."
            )
        for start, end in spans:
            marks[person, start:end] = True
    return marks


def clip(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Restrict the spans of a text to a part of it, such as a sentence."""
    if end <= start:
        raise SpanError(f"The part goes from {start} to {end}: give an end after its start.")
    return [
        (max(first, start) - start, min(last, end) - start)
        for first, last in spans
        if first < end and last > start
    ]


def align(part: str, context: str) -> tuple[IntArray, IntArray]:
    """Positions of a part's letters and digits in the part and in the whole text.

    For two copies of a text that differ in quotes, dashes, blanks or non-ASCII letters, so that
    offsets in one do not fit the other.
    """
    in_part, in_whole = (
        [position for position, letter in enumerate(text) if letter.isascii() and letter.isalnum()]
        for text in (part, context)
    )
    letters = "".join(part[position] for position in in_part)
    start = "".join(context[position] for position in in_whole).find(letters)
    if not letters or start < 0:
        raise SpanError(
            f"The text {part[:40]!r} is not a part of {context[:40]!r} by its letters and digits: "
            "give a sentence and the passage that it is from."
        )
    return np.array(in_part), np.array(in_whole[start : start + len(letters)])


def jaccard(people: npt.ArrayLike, k: int | None = None) -> float:
    """Share of the marked characters that at least k people marked (J, J_k)."""
    people = _people(people, "people")
    if k is None:
        k = len(people)
    if not 1 <= k <= len(people):
        raise SpanError(f"k is {k} for {len(people)} people: give 1 to {len(people)}.")
    by_character = people.sum(axis=0)
    anyone = np.count_nonzero(by_character)
    return float(np.count_nonzero(by_character >= k) / anyone) if anyone else 1.0


def mean_jaccard(texts: Mapping[object, npt.ArrayLike], k: int | None = None) -> float:
    """Mean of `jaccard` over texts, each with the same weight."""
    people = {name: _people(text, f"text {name!r}") for name, text in texts.items()}
    if not people:
        raise SpanError("There are no texts: give one or more.")
    numbers = {name: len(array) for name, array in people.items()}
    first = next(iter(numbers))
    for name, number in numbers.items():
        if number != numbers[first]:
            raise SpanError(
                f"The text {name!r} has {number} annotations and {first!r} has {numbers[first]}: "
                "agreement of more people is lower, so measure such texts apart."
            )
    return float(np.mean([jaccard(array, k) for array in people.values()]))


def reference_similarity(
    workers: npt.ArrayLike,
    experts: npt.ArrayLike,
    aggregation: Aggregation = "mean",
    *,
    majority: int | None = None,
) -> Overlap:
    """Overlap of workers' marks with experts' marks in a text, in both directions."""
    workers, experts = _people(workers, "workers"), _people(experts, "experts")
    if aggregation == "majority":
        needed = len(workers) // 2 + 1 if majority is None else majority
        if not 1 <= needed <= len(workers):
            raise SpanError(
                f"majority is {needed} for {len(workers)} workers: give 1 to {len(workers)}."
            )
        workers = (workers.sum(axis=0) >= needed)[None]
    elif aggregation == "similarity":
        workers = workers[[most_similar(workers)]]
    elif aggregation != "mean":
        raise SpanError(f"aggregation is {aggregation!r}: give one of {', '.join(AGGREGATIONS)}.")
    return Overlap(*(float(values.mean()) for values in _overlaps(workers, experts)))


def most_similar(workers: npt.ArrayLike) -> int:
    """Row of the worker whose marks are most similar to those of the others, by mean F1."""
    workers = _people(workers, "workers")
    if len(workers) < 2:
        raise SpanError("There is only one worker to compare: give two or more.")
    f1 = _overlaps(workers, workers)[2]
    np.fill_diagonal(f1, 0.0)
    # Rounded, so that a tie does not depend on the order of summation.
    return int(np.argmax(np.round(f1.sum(axis=1), 12)))


def _people(array: npt.ArrayLike, name: str) -> BoolArray:
    marks = np.asarray(array)
    if marks.ndim != 2 or not len(marks) or marks.dtype != bool:
        raise SpanError(
            f"{name} has the shape {marks.shape} and the type {marks.dtype}: give truth values, a "
            "row per person, a column per character."
        )
    return marks


def _overlaps(
    people: BoolArray, references: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Precision, recall and F1 of all pairs, shape (n, m) each."""
    if people.shape[1] != references.shape[1]:
        raise SpanError(
            f"The texts have {people.shape[1]} and {references.shape[1]} characters: compare "
            "annotations of one text."
        )
    shared = people.astype(float) @ references.T.astype(float)
    own, theirs = people.sum(axis=1)[:, None], references.sum(axis=1)[None]

    def over(total: npt.NDArray) -> FloatArray:
        return np.divide(shared, total, out=np.zeros_like(shared), where=shared > 0)

    # 2pr/(p+r) with the shared characters cancelled once.
    return over(own), over(theirs), 2 * over(own + theirs)
