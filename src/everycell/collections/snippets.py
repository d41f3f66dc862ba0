"""Annotations of CAsT-snippets: parts of passages that answer a question, by several annotators.

Source: Lajewska and Balog, "Towards Filling the Gap in Conversational Search" (CIKM 2023);
lajewska2025, sections 5.3 and 5.4. `everycell.collections.snippet_files` reads the released files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

#: Start (inclusive) and end (exclusive) of a snippet, in characters of its text.
Span = tuple[int, int]


class AnnotationError(Exception):
    """Annotations, or labels derived from them, are invalid; the message says where and why."""


@dataclass(frozen=True)
class AnnotationCounts:
    """Numbers of texts, annotations, snippets, and empty, overlapping or repeated annotations."""

    texts: int
    annotations: int
    per_text: int
    snippets: int
    empty: int
    overlapping: int
    repeated: int


def span_fault(spans: Sequence[Span], length: int) -> str | None:
    """Describe the first fault of the spans of a text; return None if there is none."""
    for start, end in spans:
        if end < start:
            return f"the span {start} to {end} ends before it starts"
        if end == start:
            return f"the span {start} to {end} is empty"
        if start < 0 or end > length:
            return f"the span {start} to {end} is not within the text of {length} characters"
    return None


def first_overlap(spans: Sequence[Span]) -> tuple[Span, Span] | None:
    """First two spans of an annotation that share a character, or None."""
    ordered = sorted(spans)
    for previous, following in zip(ordered, ordered[1:], strict=False):
        if following[0] < previous[1]:
            return previous, following
    return None


def check_same_texts(first: pd.DataFrame, second: pd.DataFrame) -> None:
    """Raise an error if two sets of annotations have different texts."""
    keys = ["turn_id", "text_id"]
    texts = [part.groupby(keys)["text"].first() for part in (first, second)]
    table = pd.concat(texts, axis=1, keys=["first", "second"])
    differences = table[table["first"] != table["second"]]
    if len(differences):
        turn, text = differences.index[0]
        fault = (
            "is missing from one of the two sets of annotations"
            if differences.iloc[0].isna().any()
            else "differs between the two sets of annotations"
        )
        raise AnnotationError(
            f"The text {text} of turn {turn} {fault}; fetch their files again (delete them first)."
        )


def count_annotations(annotations: pd.DataFrame) -> AnnotationCounts:
    """Count annotations of `read_annotations`, if all texts have the same number of them."""
    counts = annotations.groupby(["turn_id", "text_id"]).size()
    if counts.nunique() != 1:
        raise AnnotationError(
            f"Texts have from {counts.min()} to {counts.max()} annotations; all must have the "
            "same number, so count texts with different numbers separately."
        )
    spans = annotations["spans"]
    return AnnotationCounts(
        texts=len(counts),
        annotations=len(annotations),
        per_text=int(counts.iloc[0]),
        snippets=int(spans.map(len).sum()),
        empty=int((spans.map(len) == 0).sum()),
        overlapping=int(spans.map(first_overlap).notna().sum()),
        repeated=int(annotations.duplicated(["turn_id", "text_id", "worker"]).sum()),
    )
