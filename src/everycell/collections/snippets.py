"""Annotations of CAsT-snippets: several people's marks of the parts that answer a question.

Source: Lajewska and Balog, "Towards Filling the Gap in Conversational Search" (CIKM 2023);
lajewska2025, sections 5.3 and 5.4. `everycell.collections.snippet_files` reads what was released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

#: Start and end of a snippet, in characters of its text; the end is not part of it.
Span = tuple[int, int]


class AnnotationError(Exception):
    """Annotations, or labels derived from them, cannot be used; the message says where and why."""


@dataclass(frozen=True)
class AnnotationCounts:
    """Sizes: annotations, their snippets, and annotations that are empty, overlap or repeat."""

    texts: int
    annotations: int
    per_text: int
    snippets: int
    empty: int
    overlapping: int
    repeated: int


def span_fault(spans: Sequence[Span], length: int) -> str | None:
    """Say what is wrong with the spans of a text, or return None."""
    for start, end in spans:
        if end < start:
            return f"the span {start} to {end} ends before it starts"
        if end == start:
            return f"the span {start} to {end} is empty"
        if start < 0 or end > length:
            return f"the span {start} to {end} is not within the text of {length} characters"
    return None


def overlap(spans: Sequence[Span]) -> tuple[Span, Span] | None:
    """Two spans of one annotation that share a character, or None."""
    ordered = sorted(spans)
    for before, after in zip(ordered, ordered[1:], strict=False):
        if after[0] < before[1]:
            return before, after
    return None


def check_same_texts(first: pd.DataFrame, second: pd.DataFrame) -> None:
    """Refuse sets of annotations whose texts differ: spans must count the same characters."""
    keys = ["turn_id", "text_id"]
    wordings = [part.groupby(keys)["text"].first() for part in (first, second)]
    both = pd.concat(wordings, axis=1, keys=["first", "second"])
    other = both[both["first"] != both["second"]]
    if len(other):
        turn, text = other.index[0]
        fault = "missing from one" if other.iloc[0].isna().any() else "not worded alike in both"
        raise AnnotationError(
            f"The text {text} of turn {turn} is {fault} of two sets of annotations that are "
            "compared by character; fetch their files again (delete them first)."
        )


def count_annotations(annotations: pd.DataFrame) -> AnnotationCounts:
    """Size of what `read_annotations` gives, if all texts have the same number of annotations."""
    numbers = annotations.groupby(["turn_id", "text_id"]).size()
    if numbers.nunique() != 1:
        raise AnnotationError(
            f"Texts have from {numbers.min()} to {numbers.max()} annotations; all must have the "
            "same number, so count such texts separately."
        )
    spans = annotations["spans"]
    return AnnotationCounts(
        texts=len(numbers),
        annotations=len(annotations),
        per_text=int(numbers.iloc[0]),
        snippets=int(spans.map(len).sum()),
        empty=int((spans.map(len) == 0).sum()),
        overlapping=int(spans.map(lambda of_one: overlap(of_one) is not None).sum()),
        repeated=int(annotations.duplicated(["turn_id", "text_id", "worker"]).sum()),
    )
