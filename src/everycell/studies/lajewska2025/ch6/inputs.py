"""What the pipeline starts from: passages of CAsT, nuggets of people, nuggets of a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.collections.snippet_files import read_annotations
from everycell.collections.snippets import Span
from everycell.dialogue.spans import marked, reference_similarity
from everycell.engine.arrays import BoolArray
from everycell.rag.grounded.detection import agreed_spans, nuggets_frame
from everycell.studies.lajewska2025.annotations import PER_PASSAGE, marked_texts, paths
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
    return marked_texts(read_annotations(paths(files), per_text=PER_PASSAGE))


def input_passages(passages: pd.DataFrame) -> pd.DataFrame:
    """Passages of both kinds of input."""
    shown = passages.assign(input=passages["dataset"].map(_INPUTS))
    shown = shown.rename(columns={"turn_id": "topic", "passage": "text"})
    columns = ["input", "topic", "question", "passage_id", "text"]
    return shown[columns].drop_duplicates(["input", "topic", "passage_id"], ignore_index=True)


def people_spans(
    shown: pd.DataFrame, marks: Marks, *, least: int, shortest: int
) -> dict[Key, tuple[Span, ...]]:
    """Parts of the relevant passages that enough annotators marked."""
    found = {}
    for row in shown[shown["input"] == RELEVANT].itertuples(index=False):
        key = (row.topic, row.passage_id)
        found[key] = agreed_spans(marks[key], row.text, least=least, shortest=shortest)
    return found


def classified_spans(
    shown: pd.DataFrame, probabilities: Mapping[Key, float], threshold: float
) -> dict[tuple[str, str, str], tuple[Span, ...]]:
    """Sentences whose probability of an answer is at least the threshold, by input and passage."""
    return {
        (row.input, row.topic, row.passage_id): tuple(
            (start, end)
            for start, end in sentence_spans(row.text)
            if probabilities[row.question, row.text[start:end]] >= threshold
        )
        for row in shown.itertuples(index=False)
    }


def matching_threshold(
    validation: pd.DataFrame,
    marks: Marks,
    probabilities: Mapping[Key, float],
    *,
    least: int,
    shortest: int,
) -> float:
    """Threshold at which as many sentences are detected as people have nuggets, nearly.

    Chosen on other questions than those that are shown. The highest F1 would choose a threshold
    that detects nearly every sentence: with this measure, who marks all is hard to beat.
    """
    shown = input_passages(validation)
    shown = shown[shown["input"] == RELEVANT]
    wanted = sum(map(len, people_spans(shown, marks, least=least, shortest=shortest).values()))
    found = [
        probabilities[row.question, row.text[start:end]]
        for row in shown.itertuples(index=False)
        for start, end in sentence_spans(row.text)
    ]
    return float(np.sort(found)[-min(wanted, len(found))])


def every_sentence(shown: pd.DataFrame) -> dict[tuple[str, str, str], tuple[Span, ...]]:
    """All sentences of all passages, which anything that detects should beat."""
    return {
        (row.input, row.topic, row.passage_id): tuple(sentence_spans(row.text))
        for row in shown.itertuples(index=False)
    }


def agreement_with_people(
    shown: pd.DataFrame,
    marks: Marks,
    spans: Mapping[tuple[str, str, str], Sequence[Span]],
) -> pd.DataFrame:
    """How much of what people marked is detected, and the reverse (the measure of Table C.3)."""
    rows = []
    for row in shown[shown["input"] == RELEVANT].itertuples(index=False):
        people = marks[row.topic, row.passage_id]
        detected = marked([spans[row.input, row.topic, row.passage_id]], len(row.text))
        majority = people.sum(axis=0, keepdims=True) * 2 > len(people)
        for name, reference in zip(REFERENCES, (people, majority), strict=True):
            found = reference_similarity(detected, reference)
            rows += [(name, "precision", found.precision), (name, "recall", found.recall)]
            rows.append((name, "F1", found.f1))
    table = pd.DataFrame(rows, columns=["reference", "metric", "value"])
    return table.groupby(["reference", "metric"], sort=False, as_index=False)["value"].mean()


def nuggets_by_detection(
    shown: pd.DataFrame,
    gold: Mapping[Key, Sequence[Span]],
    detected: Mapping[tuple[str, str, str], Sequence[Span]],
) -> pd.DataFrame:
    """Nuggets with columns `detection` and `input` before those of `nuggets_frame`."""
    parts = []
    for kind, rows in shown.groupby("input", sort=False):
        texts = {(row.topic, row.passage_id): row.text for row in rows.itertuples(index=False)}
        found = {key: detected[kind, *key] for key in texts}
        named = [(DETECTED, found)] + ([(GOLD, gold)] if kind == RELEVANT else [])
        parts += [
            nuggets_frame(spans, texts).assign(detection=name, input=kind) for name, spans in named
        ]
    table = pd.concat(parts, ignore_index=True)
    return table[["detection", "input", *table.columns[:-2]]]
