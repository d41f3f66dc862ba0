"""CAsT-snippets: parts of passages that answer a question, marked by several annotators.

Source: Lajewska and Balog, "Towards Filling the Gap in Conversational Search" (CIKM 2023);
lajewska2025, sections 5.3 and 5.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from everycell.base.csv_files import read_columns
from everycell.base.errors import DataError
from everycell.base.untrusted import parse_literal

#: Start (inclusive) and end (exclusive) of a snippet, in characters of its text.
Span = tuple[int, int]
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
