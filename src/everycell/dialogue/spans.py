"""Agreement of people who mark snippets in a text, and their overlap with experts.

All measures count characters. `mark_characters` represents the marks of n people in a text of L
characters as a boolean array of shape (n, L), with one row per person.

Source: lajewska2025, section 5.2 (equation 5.1 onwards).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.collections.snippets import Span, first_overlap, span_fault

Aggregation = Literal["mean", "majority", "similarity"]
AGGREGATIONS: tuple[Aggregation, ...] = ("mean", "majority", "similarity")


class SpanError(ValueError):
    """Invalid spans or marks; the message says why."""


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
    if not annotations or length < 0:
        raise SpanError(
            f"There are {len(annotations)} annotations of a text of {length} characters; give at "
            "least one annotation, and a length of 0 or more."
        )
    marks = np.zeros((len(annotations), length), dtype=bool)
    for person, spans in enumerate(annotations):
        fault = span_fault(spans, length)
        if fault:
            raise SpanError(f"Annotation {person}: {fault}; correct or remove it.")
        overlapping_spans = first_overlap(spans)
        if overlapping_spans and overlapping == "error":
            first, second = overlapping_spans
            raise SpanError(
                f"Annotation {person}: the spans {first[0]} to {first[1]} and {second[0]} to "
                f"{second[1]} overlap; correct them, or allow overlaps with overlapping='union'."
            )
        for start, end in spans:
            marks[person, start:end] = True
    return marks


def clip(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Restrict the spans of a text to a part of it, such as a sentence."""
    if end <= start:
        raise SpanError(f"The part runs from {start} to {end}; its end must be after its start.")
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
        raise SpanError(
            f"The letters and digits of {part[:40]!r} do not occur in {context[:40]!r}; give a "
            "sentence and the passage that contains it."
        )
    return np.array(in_part), np.array(in_context[start : start + len(letters)])


def jaccard(people: npt.ArrayLike, k: int | None = None) -> float:
    """Share of the marked characters that at least k people marked (J, J_k)."""
    people = _check_marks(people, "people")
    if k is None:
        k = len(people)
    if not 1 <= k <= len(people):
        raise SpanError(f"k is {k}; with {len(people)} people, it must be from 1 to {len(people)}.")
    counts = people.sum(axis=0)
    marked_by_any = np.count_nonzero(counts)
    return float(np.count_nonzero(counts >= k) / marked_by_any) if marked_by_any else 1.0


def mean_jaccard(texts: Mapping[object, npt.ArrayLike], k: int | None = None) -> float:
    """Mean of `jaccard` over texts, each with the same weight."""
    people = {name: _check_marks(text, f"text {name!r}") for name, text in texts.items()}
    if not people:
        raise SpanError("There are no texts; give at least one.")
    numbers = {name: len(array) for name, array in people.items()}
    first = next(iter(numbers))
    for name, number in numbers.items():
        if number != numbers[first]:
            raise SpanError(
                f"The text {name!r} has {number} annotations and {first!r} has {numbers[first]}: "
                "agreement falls as people are added, so measure these texts separately."
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
    workers, experts = _check_marks(workers, "workers"), _check_marks(experts, "experts")
    if aggregation == "majority":
        needed = len(workers) // 2 + 1 if majority is None else majority
        if not 1 <= needed <= len(workers):
            raise SpanError(
                f"majority is {needed}; with {len(workers)} workers, it must be from 1 to "
                f"{len(workers)}."
            )
        workers = (workers.sum(axis=0) >= needed)[None]
    elif aggregation == "similarity":
        workers = workers[[most_similar(workers)]]
    elif aggregation != "mean":
        raise SpanError(
            f"aggregation is {aggregation!r}; expected one of {', '.join(AGGREGATIONS)}."
        )
    return Overlap(*(float(values.mean()) for values in _overlaps(workers, experts)))


def most_similar(workers: npt.ArrayLike) -> int:
    """Row of the worker whose marks have the highest mean F1 with those of the others."""
    workers = _check_marks(workers, "workers")
    if len(workers) < 2:
        raise SpanError("There is only one worker; a comparison needs at least two.")
    f1 = _overlaps(workers, workers)[2]
    np.fill_diagonal(f1, 0.0)
    # Rounded, so that a tie does not depend on the order of summation.
    return int(np.argmax(np.round(f1.sum(axis=1), 12)))


def _check_marks(array: npt.ArrayLike, name: str) -> BoolArray:
    marks = np.asarray(array)
    if marks.ndim != 2 or not len(marks) or marks.dtype != bool:
        raise SpanError(
            f"{name} has the shape {marks.shape} and the type {marks.dtype}; expected a boolean "
            "array with one row per person and one column per character."
        )
    return marks


def _overlaps(
    people: BoolArray, references: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Precision, recall and F1 of all pairs, shape (n, m) each."""
    if people.shape[1] != references.shape[1]:
        raise SpanError(
            f"The texts have {people.shape[1]} and {references.shape[1]} characters; compare "
            "annotations of the same text."
        )
    shared = people.astype(float) @ references.T.astype(float)
    sizes, reference_sizes = people.sum(axis=1)[:, None], references.sum(axis=1)[None]

    def divide_shared(total: npt.NDArray) -> FloatArray:
        return np.divide(shared, total, out=np.zeros_like(shared), where=shared > 0)

    # F1 is 2pr / (p + r), simplified to avoid dividing by zero.
    f1 = 2 * divide_shared(sizes + reference_sizes)
    return divide_shared(sizes), divide_shared(reference_sizes), f1
