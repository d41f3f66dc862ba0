"""Inputs of the pipeline: CAsT passages, human nuggets and nuggets from a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.base.arrays import BoolArray
from everycell.collections.snippets import Span, read_annotations
from everycell.dialogue.spans import mark_characters, reference_similarity
from everycell.rag.grounded.detection import agreed_spans, nuggets_frame
from everycell.studies.lajewska2025.ch6.systems import DETECTED, GOLD, IRRELEVANT, RELEVANT
from everycell.text.sentences import sentence_spans
from papers.lajewska2025.annotations import mark_texts, paths

Key = tuple[str, str]
Marks = Mapping[Key, BoolArray]

#: Part of CAsT-answerability -> kind of input.
_KIND_BY_DATASET = {"CAsT-snippets": RELEVANT, "CAsT-unanswerable": IRRELEVANT}
#: References for agreement: each annotator, or the characters that most annotators marked.
REFERENCES = ("each annotator", "most annotators")


def read_human_marks(files: str | Iterable[str]) -> Marks:
    """Characters that each of three annotators marked, by passage of CAsT-snippets."""
    return mark_texts(read_annotations(paths(files)))


def input_passages(passages: pd.DataFrame) -> pd.DataFrame:
    """Distinct passages of both kinds of input."""
    inputs = passages.assign(input=passages["dataset"].map(_KIND_BY_DATASET))
    inputs = inputs.rename(columns={"turn_id": "topic", "passage": "text"})
    columns = ["input", "topic", "question", "passage_id", "text"]
    return inputs[columns].drop_duplicates(["input", "topic", "passage_id"], ignore_index=True)


def human_spans(
    passages: pd.DataFrame, marks: Marks, *, annotators: int, shortest: int
) -> dict[Key, tuple[Span, ...]]:
    """Parts of the relevant passages that enough annotators marked."""
    spans = {}
    for row in passages[passages["input"] == RELEVANT].itertuples(index=False):
        key = (row.topic, row.passage_id)
        spans[key] = agreed_spans(marks[key], row.text, minimum=annotators, shortest=shortest)
    return spans


def classified_spans(
    passages: pd.DataFrame, probabilities: Mapping[Key, float], threshold: float
) -> dict[tuple[str, str, str], tuple[Span, ...]]:
    """Sentences whose probability of an answer reaches the threshold, by passage."""
    return {
        (row.input, row.topic, row.passage_id): tuple(
            (start, end)
            for start, end in sentence_spans(row.text)
            if probabilities[row.question, row.text[start:end]] >= threshold
        )
        for row in passages.itertuples(index=False)
    }


def matching_threshold(
    validation: pd.DataFrame,
    marks: Marks,
    probabilities: Mapping[Key, float],
    *,
    annotators: int,
    shortest: int,
) -> float:
    """Threshold that detects about as many sentences as there are human nuggets.

    It is set on validation questions. Maximizing F1 would select nearly every sentence, because
    marking everything scores high on this measure.
    """
    passages = input_passages(validation)
    passages = passages[passages["input"] == RELEVANT]
    target_count = sum(
        map(len, human_spans(passages, marks, annotators=annotators, shortest=shortest).values())
    )
    values = [
        probabilities[row.question, row.text[start:end]]
        for row in passages.itertuples(index=False)
        for start, end in sentence_spans(row.text)
    ]
    return float(np.sort(values)[-min(target_count, len(values))])


def all_sentences(passages: pd.DataFrame) -> dict[tuple[str, str, str], tuple[Span, ...]]:
    """All sentences of all passages: a baseline of detection."""
    return {
        (row.input, row.topic, row.passage_id): tuple(sentence_spans(row.text))
        for row in passages.itertuples(index=False)
    }


def agreement_with_people(
    passages: pd.DataFrame,
    marks: Marks,
    spans: Mapping[tuple[str, str, str], Sequence[Span]],
) -> pd.DataFrame:
    """Agreement of detected spans with human marks, by the measure of Table C.3."""
    rows = []
    for row in passages[passages["input"] == RELEVANT].itertuples(index=False):
        people = marks[row.topic, row.passage_id]
        detected = mark_characters([spans[row.input, row.topic, row.passage_id]], len(row.text))
        majority = people.sum(axis=0, keepdims=True) * 2 > len(people)
        for name, reference in zip(REFERENCES, (people, majority), strict=True):
            similarity = reference_similarity(detected, reference)
            rows += [(name, "precision", similarity.precision), (name, "recall", similarity.recall)]
            rows.append((name, "F1", similarity.f1))
    table = pd.DataFrame(rows, columns=["reference", "metric", "value"])
    return table.groupby(["reference", "metric"], sort=False, as_index=False)["value"].mean()


def nuggets_by_detection(
    passages: pd.DataFrame,
    gold: Mapping[Key, Sequence[Span]],
    detected: Mapping[tuple[str, str, str], Sequence[Span]],
) -> pd.DataFrame:
    """Nuggets from both detection methods, as `nuggets_frame` plus `detection` and `input`."""
    parts = []
    for kind, rows in passages.groupby("input", sort=False):
        texts = {(row.topic, row.passage_id): row.text for row in rows.itertuples(index=False)}
        detected_spans = {key: detected[kind, *key] for key in texts}
        by_detection = [(DETECTED, detected_spans)] + ([(GOLD, gold)] if kind == RELEVANT else [])
        parts += [
            nuggets_frame(spans, texts).assign(detection=name, input=kind)
            for name, spans in by_detection
        ]
    table = pd.concat(parts, ignore_index=True)
    return table[["detection", "input", *table.columns[:-2]]]
