"""What the pipeline starts from: passages of CAsT, nuggets of people, nuggets of a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.collections.snippet_files import read_annotations
from everycell.collections.snippets import Span
from everycell.dialogue.spans import mark_characters, reference_similarity
from everycell.engine.arrays import BoolArray
from everycell.rag.grounded.detection import agreed_spans, nuggets_frame
from everycell.studies.lajewska2025.annotations import PER_PASSAGE, mark_texts, paths
from everycell.studies.lajewska2025.ch6.systems import DETECTED, GOLD, IRRELEVANT, RELEVANT
from everycell.text.sentences import sentence_spans

Key = tuple[str, str]
Marks = Mapping[Key, BoolArray]

#: Half of CAsT-answerability -> kind of input.
_INPUTS = {"CAsT-snippets": RELEVANT, "CAsT-unanswerable": IRRELEVANT}
#: What people marked: each annotator by itself, or the characters that most of them marked.
REFERENCES = ("each annotator", "most annotators")


def marks_of_people(files: str | Iterable[str]) -> Marks:
    """What each of the three annotators of a passage of CAsT-snippets marked."""
    return mark_texts(read_annotations(paths(files), per_text=PER_PASSAGE))


def input_passages(passages: pd.DataFrame) -> pd.DataFrame:
    """Passages of both kinds of input."""
    inputs = passages.assign(input=passages["dataset"].map(_INPUTS))
    inputs = inputs.rename(columns={"turn_id": "topic", "passage": "text"})
    columns = ["input", "topic", "question", "passage_id", "text"]
    return inputs[columns].drop_duplicates(["input", "topic", "passage_id"], ignore_index=True)


def people_spans(
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
    """Sentences whose probability of an answer is at least the threshold, by input and passage."""
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
    """Threshold at which as many sentences are detected as people have nuggets, nearly.

    Chosen on other questions than those that are shown. The highest F1 would choose a threshold
    that detects nearly every sentence: with this measure, who marks all is hard to beat.
    """
    passages = input_passages(validation)
    passages = passages[passages["input"] == RELEVANT]
    target_count = sum(
        map(len, people_spans(passages, marks, annotators=annotators, shortest=shortest).values())
    )
    values = [
        probabilities[row.question, row.text[start:end]]
        for row in passages.itertuples(index=False)
        for start, end in sentence_spans(row.text)
    ]
    return float(np.sort(values)[-min(target_count, len(values))])


def every_sentence(passages: pd.DataFrame) -> dict[tuple[str, str, str], tuple[Span, ...]]:
    """All sentences of all passages, which anything that detects should beat."""
    return {
        (row.input, row.topic, row.passage_id): tuple(sentence_spans(row.text))
        for row in passages.itertuples(index=False)
    }


def agreement_with_people(
    passages: pd.DataFrame,
    marks: Marks,
    spans: Mapping[tuple[str, str, str], Sequence[Span]],
) -> pd.DataFrame:
    """How much of what people marked is detected, and the reverse (the measure of Table C.3)."""
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
    """Nuggets with columns `detection` and `input` before those of `nuggets_frame`."""
    parts = []
    for kind, rows in passages.groupby("input", sort=False):
        texts = {(row.topic, row.passage_id): row.text for row in rows.itertuples(index=False)}
        own_spans = {key: detected[kind, *key] for key in texts}
        by_detection = [(DETECTED, own_spans)] + ([(GOLD, gold)] if kind == RELEVANT else [])
        parts += [
            nuggets_frame(spans, texts).assign(detection=name, input=kind)
            for name, spans in by_detection
        ]
    table = pd.concat(parts, ignore_index=True)
    return table[["detection", "input", *table.columns[:-2]]]
