"""What the scripts of chapter 5 share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from everycell.collections.snippets import read_annotations
from everycell.dialogue.spans import BoolArray, marked

#: Group of annotators -> task, name and size in the print.
GROUPS = {
    "paragraph_regular": ("Paragraph", "MTurk regular", 5),
    "paragraph_master": ("Paragraph", "MTurk master", 5),
    "paragraph_prolific": ("Paragraph", "Prolific", 5),
    "paragraph_expert": ("Paragraph", "Expert", 3),
    "sentence_regular": ("Sentence", "MTurk regular", 3),
    "sentence_master": ("Sentence", "MTurk master", 3),
}
#: Annotators of a passage of the data set.
PER_PASSAGE = 3


def paths(files: str | Iterable[str]) -> list[Path]:
    """Files of an input, of which there may be one."""
    return [Path(files)] if isinstance(files, str) else [Path(file) for file in files]


def marked_texts(annotations: pd.DataFrame) -> dict[tuple[str, str], BoolArray]:
    """What each annotator marked, by turn and text; of overlapping spans the union."""
    return {
        name: marked(rows["spans"].tolist(), len(rows["text"].iloc[0]), overlapping="union")
        for name, rows in annotations.groupby(["turn_id", "text_id"], sort=False)
    }


def marked_by(files: str | Iterable[str], per_text: int) -> dict[tuple[str, str], BoolArray]:
    """The same for released files."""
    return marked_texts(read_annotations(paths(files), per_text=per_text))
