"""Nuggets of chapter 6 of lajewska2025: by people, a classifier or a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.arrays import BoolArray
from everycell.jobs.job import Job
from everycell.language_models import templates
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.generation import Message
from everycell.language_models.reasoning import without_reasoning
from everycell.language_models.settings import Decoding
from everycell.language_models.templates import read_template
from everycell.text.sentences import Span, sentence_spans
from papers.lajewska2025.answerability_data import hold_out, read_labels
from papers.lajewska2025.cast_snippets_data import mark_texts, paths, read_annotations
from papers.lajewska2025.ch6_systems import DETECTED, GOLD, IRRELEVANT, REFERENCES, RELEVANT
from papers.lajewska2025.ch6_test_queries import union_spans
from papers.lajewska2025.spans import mark_characters, reference_similarity

Key = tuple[str, str]
Marks = Mapping[Key, BoolArray]
#: Part of CAsT-answerability -> kind of input.
_KIND_BY_DATASET = {"CAsT-snippets": RELEVANT, "CAsT-unanswerable": IRRELEVANT}


def read_human_marks(files: str | Iterable[str]) -> Marks:
    """Characters that each of three annotators marked, by passage of CAsT-snippets."""
    return mark_texts(read_annotations(paths(files)))


def input_passages(passages: pd.DataFrame) -> pd.DataFrame:
    """Distinct passages of both kinds of input."""
    inputs = passages.assign(input=passages["dataset"].map(_KIND_BY_DATASET))
    inputs = inputs.rename(columns={"turn_id": "topic", "passage": "text"})
    columns = ["input", "topic", "question", "passage_id", "text"]
    return inputs[columns].drop_duplicates(["input", "topic", "passage_id"], ignore_index=True)


def human_spans(passages: pd.DataFrame, marks: Marks) -> dict[Key, tuple[Span, ...]]:
    """Contiguous unions of all annotators' snippets in the relevant passages."""
    relevant = passages[passages["input"] == RELEVANT]
    keys = zip(relevant["topic"], relevant["passage_id"], strict=True)
    return {key: union_spans(marks[key]) for key in keys}


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
) -> float:
    """Threshold that detects about as many sentences as there are human nuggets.

    It is set on validation questions. Maximizing F1 would select nearly every sentence, because
    marking everything scores high on this measure.
    """
    passages = input_passages(validation)
    passages = passages[passages["input"] == RELEVANT]
    target_count = sum(map(len, human_spans(passages, marks).values()))
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
    passages: pd.DataFrame, marks: Marks, spans: Mapping[tuple[str, str, str], Sequence[Span]]
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


def nuggets(job: Job) -> None:
    """Passages of the test queries, with nuggets by people and by a classifier.

    A sentence is a nugget of the classifier if its answer probability reaches a threshold. At this
    threshold the classifier detects as many nuggets on the validation questions as people marked.
    """
    queries = pd.read_parquet(job.input.test_queries)["topic"]
    passages, _ = hold_out(*read_labels(job.input), queries)
    marks = read_human_marks(job.input.dataset)
    scores = pd.read_parquet(job.input.scores)
    probabilities = scores.set_index(["question", "sentence"])["probability"].to_dict()
    validation = passages[passages["partition"] == "validation"]
    threshold = matching_threshold(validation, marks, probabilities)
    job.log.write(f"Sentences with a probability of at least {threshold} are nuggets.\n")
    test_passages = input_passages(passages[passages["turn_id"].isin(queries)])
    detected = classified_spans(test_passages, probabilities, threshold)
    gold = human_spans(test_passages, marks)
    job.write_frame(test_passages, "passages")
    job.write_frame(nuggets_by_detection(test_passages, gold, detected), "nuggets")
    agreed = [
        agreement_with_people(test_passages, marks, spans).assign(detection=name)
        for name, spans in (
            ("classifier", detected),
            ("every sentence", all_sentences(test_passages)),
        )
    ]
    job.write_frame(pd.concat(agreed, ignore_index=True), "agreement")


class DetectedSpans(NamedTuple):
    """Spans of all passages, and counts of unusable answers."""

    #: Input, topic and passage -> spans.
    spans: dict[tuple[str, str, str], tuple[Span, ...]]
    #: Number of texts that the model marked.
    marks: int
    #: Number of marked texts that do not occur in their passage.
    strays: int
    #: Number of passages without a mark.
    unmarked: int


def detect_spans(
    passages: pd.DataFrame,
    template: Template,
    ask: Callable[[Sequence[tuple[Message, ...]]], Sequence[str]],
) -> DetectedSpans:
    """Ask the model for the nuggets of all passages that have text."""
    rows = list(passages.itertuples(index=False))
    with_text = [row for row in rows if row.text.strip()]
    answers = ask([detection_prompt(template, row.question, row.text) for row in with_text])
    spans: dict[tuple[str, str, str], tuple[Span, ...]] = {
        (row.input, row.topic, row.passage_id): () for row in rows
    }
    strays, unmarked, marks = 0, len(rows) - len(with_text), 0
    for row, answer in zip(with_text, answers, strict=True):
        parsed = marked_spans(row.text, answer)
        spans[row.input, row.topic, row.passage_id] = parsed.spans
        marks += answer.count(OPENING)
        strays += len(parsed.strays)
        unmarked += OPENING not in answer
    return DetectedSpans(spans, marks, strays, unmarked)


def detect(job: Job) -> None:
    """Nuggets that a language model marks in passages, and their agreement with human marks."""
    files, params = job.input, job.params
    passages, nuggets = pd.read_parquet(files.passages), pd.read_parquet(files.nuggets)
    topics = list(dict.fromkeys(passages["topic"]))[: params.questions]
    topic_passages = passages[passages["topic"].isin(topics)].reset_index(drop=True)
    template = read_template(Path(files.template or TEMPLATE), SLOTS, last="passage")
    decoding = Decoding(max_tokens=params.max_tokens)
    with model_of_job(job.snakemake, job.log) as model:
        ask = answer_function(model, decoding)
        detected = detect_spans(topic_passages, template, ask)
        job.log.write(
            f"{detected.strays} of {detected.marks} marked texts do not occur in their passage; "
            f"{detected.unmarked} of {len(topic_passages)} passages have no mark.\n"
        )
    people = nuggets[(nuggets["detection"] == GOLD) & nuggets["topic"].isin(topics)]
    gold = {
        keys: tuple(zip(rows["start"], rows["end"], strict=True))
        for keys, rows in people.groupby(["topic", "passage_id"], sort=False)
    }
    job.write_frame(nuggets_by_detection(topic_passages, gold, detected.spans), "nuggets")
    agreed = agreement_with_people(topic_passages, read_human_marks(files.dataset), detected.spans)
    job.write_frame(agreed.assign(detection=params.model), "agreement")


def rag_detect(job: Job) -> None:
    """Nuggets that a language model marks in the passages of TREC RAG 2024."""
    files, params = job.input, job.params
    passages = pd.read_parquet(files.passages)
    # Inputs of different sizes share passages.
    distinct = passages.sort_values("rank", kind="stable").drop_duplicates(["topic", "passage_id"])
    template = read_template(Path(files.template or TEMPLATE), SLOTS, last="passage")
    with model_of_job(job.snakemake, job.log) as model:
        ask = answer_function(model, Decoding(max_tokens=params.max_tokens))
        result = detect_spans(distinct, template, ask)
    job.log.write(
        f"{result.strays} of {result.marks} marked texts do not occur in their passage; "
        f"{result.unmarked} of {len(distinct)} passages have no mark.\n"
    )
    spans = {(topic, passage): own for (_, topic, passage), own in result.spans.items()}
    detected = {
        (row.input, row.topic, row.passage_id): spans[row.topic, row.passage_id]
        for row in passages.itertuples(index=False)
    }
    job.write_frame(nuggets_by_detection(passages, {}, detected), "nuggets")


#: Tags around a nugget.
OPENING, CLOSING = "<IN>", "</IN>"
#: Columns of a frame of nuggets: `nugget` is a number per topic, from 1; `start` and `end` are
#: positions in the passage.
COLUMNS = ("topic", "passage_id", "nugget", "start", "end", "text")
TEMPLATE = Path(__file__).with_name("ch6_detection.txt")
SLOTS: templates.Slots = {
    "question": ("the question", True),
    "passage": ("the passage to mark", True),
}


class Detection(NamedTuple):
    """Nuggets of a passage, and marked texts that are not in the passage (strays)."""

    spans: tuple[Span, ...]
    strays: tuple[str, ...]


def detection_prompt(template: Template, question: str, passage: str) -> tuple[Message, ...]:
    """Ask for a passage with its nuggets marked."""
    return templates.fill(template, question=question, passage=passage)


def marked_spans(passage: str, answer: str) -> Detection:
    """Spans of a passage that an answer has marked; only white space may differ.

    Each marked text is located after the previous one if possible, otherwise anywhere. If marks
    overlap, the first one counts. A tag without its partner is ignored.
    """
    spans: list[Span] = []
    strays = []
    offset = 0
    pattern = rf"{re.escape(OPENING)}((?:(?!{re.escape(OPENING)}).)*?){re.escape(CLOSING)}"
    for text in re.findall(pattern, without_reasoning(answer), flags=re.DOTALL):
        words = text.split()
        if not words:
            continue
        regex = re.compile(r"\s+".join(map(re.escape, words)))
        match = regex.search(passage, offset) or regex.search(passage)
        if match is None:
            strays.append(" ".join(words))
        elif all(match.end() <= start or match.start() >= end for start, end in spans):
            spans.append(match.span())
            offset = match.end()
    return Detection(tuple(sorted(spans)), tuple(strays))


def nuggets_frame(
    spans: Mapping[tuple[str, str], Sequence[Span]], passages: Mapping[tuple[str, str], str]
) -> pd.DataFrame:
    """Nuggets of several passages as a frame."""
    rows = []
    counts: dict[str, int] = {}
    for (topic, passage), text in passages.items():
        for start, end in spans.get((topic, passage), ()):
            counts[topic] = counts.get(topic, 0) + 1
            rows.append((topic, passage, counts[topic], start, end, text[start:end]))
    return pd.DataFrame(rows, columns=list(COLUMNS))
