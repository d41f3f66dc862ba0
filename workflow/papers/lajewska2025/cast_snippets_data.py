"""Readers of CAsT-snippets for lajewska2025: parts of passages that annotators marked.

Source: Lajewska and Balog, "Towards Filling the Gap in Conversational Search" (CIKM 2023);
lajewska2025, sections 5.3 and 5.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from everycell.base.arrays import BoolArray
from everycell.base.csv_files import read_columns
from everycell.base.errors import DataError
from everycell.base.untrusted import parse_literal
from everycell.text.sentences import Span
from papers.lajewska2025.spans import first_overlap, mark_characters

#: Levels of the annotators' confidence, in ascending order.
CONFIDENCE = ("very_low", "low", "medium", "high", "very_high")

_STUDY = "cast-snippets/snippet_annotation"
_SELECTION = "cast-snippets/relevant_sentence_selection/mturk/subtask_1a"
_DATASET = "cast-snippets/large_scale/all"
_BATCHES = {"2020": 5, "2022": 3}


def _topics(form: str) -> tuple[str, ...]:
    """Names of the files of the two topics."""
    return form.format(1), form.format(2)


#: Registry key of the authors' agreement and mean confidence per passage.
CONFIDENCE_FILE = "cast-snippets/large_scale/jaccard_confidence.csv"

#: Registry keys of the annotations, by task and group of annotators.
FILES: Mapping[str, tuple[str, ...]] = {
    "paragraph_regular": _topics(
        f"{_STUDY}/mturk/paragraph/subtask_1-topic_{{}}-paragraph-regular.csv"
    ),
    "paragraph_master": _topics(
        f"{_STUDY}/mturk/paragraph/subtask_1-topic_{{}}-paragraph-master.csv"
    ),
    "paragraph_prolific": _topics(f"{_STUDY}/prolific/prolific_topic_{{}}-paragraph.csv"),
    "paragraph_expert": (
        f"{_STUDY}/mturk/paragraph/subtask_1-topic_1-paragraph-expert.csv",
        f"{_STUDY}/mturk/paragraph/subtask_1-topic_2-paragraph-experts.csv",
    ),
    "sentence_regular": _topics(
        f"{_STUDY}/mturk/sentence/subtask_1b-topic_{{}}-sentences-regular.csv"
    ),
    "sentence_master": _topics(
        f"{_STUDY}/mturk/sentence/subtask_1b-topic_{{}}-sentences-masters.csv"
    ),
    "dataset": tuple(
        f"{_DATASET}/{year}/group-{group}_batch-{batch}_paragraph_regular.csv"
        for year, batches in _BATCHES.items()
        for group in "ABCDE"
        for batch in range(1, batches + 1)
    ),
}
#: Registry keys of the selection of sentences, which preceded their annotation, by group.
SELECTION_FILES: Mapping[str, tuple[str, ...]] = {
    "selection_regular": _topics(f"{_SELECTION}-topic_{{}}-sentences-regular.csv"),
    "selection_master": _topics(f"{_SELECTION}-topic_{{}}-sentences-masters.csv"),
}


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


def read_annotations(paths: Sequence[Path]) -> pd.DataFrame:
    """Read annotations, with one row per text and annotator."""
    return pd.concat([_annotations(path) for path in paths], ignore_index=True)


def _annotations(path: Path) -> pd.DataFrame:
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    has_sentences = "Input.sentence_id" in raw
    # text_spans_2 has the texts of the spans that remain after the authors' check.
    snippet_column = "text_spans_2" if "text_spans_2" in raw else "text_spans"
    rows = []
    for row in raw.to_dict("records"):
        spans, confidence = _parse_answer(row["Answer.taskAnswers"])
        passage = row["Input.passage_id"]
        if passage.startswith("["):  # Prolific's files contain a list with one id.
            passage = str(parse_literal(passage)[0])
        rows.append(
            {
                "turn_id": row["Input.turn_id"],
                "text_id": row["Input.sentence_id"] if has_sentences else passage,
                "passage_id": passage,
                "worker": row["WorkerId"],
                "text": row["Input.sentence" if has_sentences else "Input.passage"],
                "spans": spans,
                "snippets": tuple(parse_literal(row[snippet_column])),
                "confidence": confidence,
            }
        )
    return pd.DataFrame(rows)


def _parse_answer(answer: str) -> tuple[tuple[Span, ...], float]:
    """Spans of an answer and its confidence, which is NaN if it was not collected."""
    [part] = parse_literal(answer)
    [entities] = [value["entities"] for value in part.values() if "entities" in value]
    spans = tuple((entity["startOffset"], entity["endOffset"]) for entity in entities)
    answers = dict(part.get("answer_confidence", {}))
    levels = [CONFIDENCE.index(level) + 1 for level, is_chosen in answers.items() if is_chosen]
    return spans, float(levels[0]) if levels else float("nan")


def read_tasks(paths: Sequence[Path]) -> pd.DataFrame:
    """Read time and pay, with one row per completed annotation or selection task."""
    columns = {
        "Input.turn_id": "turn_id",
        "Input.passage_id": "passage_id",
        "WorkTimeInSeconds": "seconds",
        "Reward": "reward",
    }
    tasks = pd.concat([read_columns(path, list(columns)) for path in paths], ignore_index=True)
    rewards = tasks["Reward"].str.removeprefix("$").astype(float)
    seconds = tasks["WorkTimeInSeconds"].astype(int)
    return tasks.assign(Reward=rewards, WorkTimeInSeconds=seconds).rename(columns=columns)


def check_same_texts(first: pd.DataFrame, second: pd.DataFrame) -> None:
    """Raise an error if two sets of annotations have different texts."""
    texts = [part.groupby(["turn_id", "text_id"])["text"].first() for part in (first, second)]
    table = pd.concat(texts, axis=1, keys=["first", "second"])
    differences = table[table["first"] != table["second"]]
    if len(differences):
        turn, text = differences.index[0]
        is_missing = differences.iloc[0].isna().any()
        raise DataError(
            row=f"text {text} of turn {turn}",
            fault="is missing from one of the two groups"
            if is_missing
            else "differs between the two groups",
            fix="compare groups that annotated the same texts",
        )


def count_annotations(annotations: pd.DataFrame) -> AnnotationCounts:
    """Count annotations of `read_annotations`, if all texts have the same number of them."""
    counts = annotations.groupby(["turn_id", "text_id"]).size()
    if counts.nunique() != 1:
        raise DataError(
            column="annotations per text",
            fault=f"range from {counts.min()} to {counts.max()}",
            fix="count texts with different numbers separately",
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


def read_group(files: str | Iterable[str]) -> pd.DataFrame:
    """Annotations in the released files of a group."""
    return read_annotations(paths(files))


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
