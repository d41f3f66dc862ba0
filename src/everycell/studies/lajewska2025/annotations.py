"""What people marked in the passages of CAsT-snippets, for several chapters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pandas as pd

from everycell.collections.snippet_files import read_annotations
from everycell.dialogue.spans import marked
from everycell.engine.arrays import BoolArray

#: Group of annotators -> task, name and size as published.
GROUPS = {
    "paragraph_regular": ("Paragraph", "MTurk regular", 5),
    "paragraph_master": ("Paragraph", "MTurk master", 5),
    "paragraph_prolific": ("Paragraph", "Prolific", 5),
    "paragraph_expert": ("Paragraph", "Expert", 3),
    "sentence_regular": ("Sentence", "MTurk regular", 3),
    "sentence_master": ("Sentence", "MTurk master", 3),
}
#: Groups with snippets that overlap although the task forbids it: the union counts.
OVERLAPPING = frozenset({"paragraph_prolific"})
#: Annotators of a passage of the data set.
PER_PASSAGE = 3


def paths(files: str | Iterable[str]) -> list[Path]:
    """Files of an input, of which there may be one."""
    return [Path(files)] if isinstance(files, str) else [Path(file) for file in files]


def read_group(files: str | Iterable[str], group: str) -> pd.DataFrame:
    """Annotations of a group's released files, as many of each text as its size."""
    return read_annotations(paths(files), per_text=GROUPS[group][2])


def gaps(agreement: pd.DataFrame, group: str, other: str) -> pd.DataFrame:
    """How much more one group agrees than another one, in the measures that both tasks have."""
    values = agreement.pivot_table(index=["task", "metric"], columns="row", values="value")
    shared = values[[group, other]].dropna()
    differences = (shared[group] - shared[other]).rename("value").reset_index()
    tasks = differences.groupby("metric")["task"].transform("nunique")
    return differences[tasks == differences["task"].nunique()].reset_index(drop=True)


def mark_texts(
    annotations: pd.DataFrame, group: str | None = None
) -> dict[tuple[str, str], BoolArray]:
    """What each annotator marked, by turn and text; overlaps are refused but in one group."""
    overlapping: Literal["error", "union"] = "union" if group in OVERLAPPING else "error"
    return {
        name: marked(rows["spans"].tolist(), len(rows["text"].iloc[0]), overlapping=overlapping)
        for name, rows in annotations.groupby(["turn_id", "text_id"], sort=False)
    }
