"""Annotations of CAsT-snippets, as several chapters read them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pandas as pd

from everycell.base.arrays import BoolArray
from everycell.collections.snippets import read_annotations
from papers.lajewska2025.spans import mark_characters

#: Group of annotators -> task, name and number of annotators per text, as published.
GROUPS = {
    "paragraph_regular": ("Paragraph", "MTurk regular", 5),
    "paragraph_master": ("Paragraph", "MTurk master", 5),
    "paragraph_prolific": ("Paragraph", "Prolific", 5),
    "paragraph_expert": ("Paragraph", "Expert", 3),
    "sentence_regular": ("Sentence", "MTurk regular", 3),
    "sentence_master": ("Sentence", "MTurk master", 3),
}
#: Groups whose snippets overlap although the task forbids it; their union is used.
OVERLAPPING = frozenset({"paragraph_prolific"})


def paths(files: str | Iterable[str]) -> list[Path]:
    """Paths of an input with one file or several."""
    return [Path(files)] if isinstance(files, str) else [Path(file) for file in files]


def read_group(files: str | Iterable[str], group: str) -> pd.DataFrame:
    """Annotations in a group's released files."""
    return read_annotations(paths(files))


def agreement_gaps(agreement: pd.DataFrame, group: str, baseline: str) -> pd.DataFrame:
    """Agreement of a group minus that of a baseline, for measures that all tasks have."""
    values = agreement.pivot_table(index=["task", "metric"], columns="row", values="value")
    shared = values[[group, baseline]].dropna()
    differences = (shared[group] - shared[baseline]).rename("value").reset_index()
    tasks = differences.groupby("metric")["task"].transform("nunique")
    return differences[tasks == differences["task"].nunique()].reset_index(drop=True)


def mark_texts(
    annotations: pd.DataFrame, group: str | None = None
) -> dict[tuple[str, str], BoolArray]:
    """Characters that each annotator marked, by turn and text.

    Overlapping snippets of one annotator are an error, except in the groups of `OVERLAPPING`.
    """
    overlapping: Literal["error", "union"] = "union" if group in OVERLAPPING else "error"
    return {
        name: mark_characters(
            rows["spans"].tolist(), len(rows["text"].iloc[0]), overlapping=overlapping
        )
        for name, rows in annotations.groupby(["turn_id", "text_id"], sort=False)
    }
