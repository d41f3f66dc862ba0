"""Examples of chapter 5 of lajewska2025: marks of annotators, and scores that are aggregated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.render.flow import AFTER, flow_chart
from everycell.render.marked_text import MarkedText, marked_rows, marked_texts
from everycell.statistics.agreement import fleiss_kappa
from papers.lajewska2025.cast_snippets_data import read_group
from papers.lajewska2025.ch5_aggregation import THRESHOLDS, Aggregation, aggregate, decide
from papers.lajewska2025.ch5_quality import krippendorff_alpha
from papers.lajewska2025.spans import Span, jaccard, mark_characters

#: Toy text of Figure 5.1, and the parts that three annotators mark.
TEXT = (
    "A sourdough starter needs flour, water and time. Feed it once a day and keep it warm, "
    "and it doubles in size within a week."
)
PARTS = {
    "annotator 1": ["needs flour, water and time", "Feed it once a day and keep it warm"],
    "annotator 2": ["flour, water and time", "Feed it once a day", "doubles in size within a week"],
    "annotator 3": ["A sourdough starter needs flour, water", "keep it warm"],
}
#: Made-up scores of sentences of Figure 5.4, by passage.
SCORES = {
    "passage 1": [0.10, 0.92, 0.05],
    "passage 2": [0.35, 0.30, 0.25],
    "passage 3": [0.04, 0.07, 0.02],
}


def agreement_example(job: ResultJob) -> None:
    """Figure 5.1: marks of three annotators in a toy text, and their agreement."""
    marks = {name: spans_of(TEXT, parts) for name, parts in PARTS.items()}
    agreement = measure_agreement(list(marks.values()), len(TEXT))
    note = "\n".join(f"{name}: {value:.2f}" for name, value in agreement.items())
    texts = [MarkedText("Three annotators of a toy text", TEXT, marks, note)]
    job.write_figure(marked_rows(texts), marked_texts(texts))
    agreement["Krippendorff's alpha of the characters"] = krippendorff_alpha(
        mark_characters(list(marks.values()), len(TEXT))
    )
    rows = [("toy text", name, value) for name, value in agreement.items()]
    table = pd.DataFrame(rows, columns=["text", "measure", "value"])
    job.write_supplement(table, "agreement", {"all": 2})


def spans_of(text: str, parts: Sequence[str]) -> list[Span]:
    """Start and end of each part of a text, at its first occurrence."""
    return [(text.index(part), text.index(part) + len(part)) for part in parts]


def measure_agreement(annotations: Sequence[Sequence[Span]], length: int) -> dict[str, float]:
    """Agreement of annotators on the characters of a text, by measure."""
    marks = mark_characters(annotations, length)
    return {
        "Jaccard similarity, all annotators": jaccard(marks),
        "Jaccard similarity, at least two annotators": jaccard(marks, 2),
        "Fleiss' kappa of the characters": fleiss_kappa(marks.T.astype(int)),
    }


def sample(job: ResultJob) -> None:
    """Figure 5.2: a passage with the snippets of the experts."""
    turn, passage = job.params.turn, job.params.passage
    annotations = read_group(job.input.paragraph_expert)
    rows = select_passage(annotations, turn, passage)
    texts = [text_of_people(f"Turn {turn}, passage {passage}", rows, "expert")]
    job.write_figure(marked_rows(texts), marked_texts(texts))


def designs(job: ResultJob) -> None:
    """Figure 5.3: a passage that workers annotated as a whole, and sentence by sentence."""
    paragraph, parts = (
        select_passage(read_group(job.input[group]), job.params.turn, job.params.passage)
        for group in ("paragraph_master", "sentence_master")
    )
    texts = [text_of_people("Annotation of the paragraph", paragraph, "worker")]
    # The ids of sentences end with their numbers.
    numbers = parts["text_id"].str.rpartition("-")[2].astype(int)
    texts += [
        text_of_people(f"Annotation of sentence {number + 1}", parts[numbers == number], "worker")
        for number in sorted(set(numbers))
    ]
    job.write_figure(marked_rows(texts), marked_texts(texts))


def select_passage(annotations: pd.DataFrame, turn: str, passage: str) -> pd.DataFrame:
    """Annotations of a passage, or of its sentences."""
    return annotations[(annotations["turn_id"] == turn) & (annotations["passage_id"] == passage)]


def text_of_people(title: str, annotations: pd.DataFrame, role: str) -> MarkedText:
    """Text of an annotated passage or sentence, with the marks of each person."""
    text = annotations["text"].iloc[0]
    marks = {
        f"{role} {number}": list(spans)
        for number, spans in enumerate(annotations["spans"], start=1)
    }
    return MarkedText(title, text, marks)


def aggregation_example(job: ResultJob) -> None:
    """Figure 5.4: made-up scores of sentences, aggregated to passages and to a ranking."""
    boxes = aggregation_boxes(SCORES)
    job.write_figure(boxes, flow_chart(boxes))


def aggregation_boxes(scores: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """Sentences, passages and the ranking with their scores and decisions."""
    rows, of_passages = [], {}
    for name, sentence_scores in scores.items():
        sentences = [f"{name}, sentence {number}" for number in range(1, len(sentence_scores) + 1)]
        rows += [
            (sentence, "sentence", f"{sentence}\n{score:.2f}", "")
            for sentence, score in zip(sentences, sentence_scores, strict=True)
        ]
        of_passages[name] = {how: aggregate([sentence_scores], how)[0] for how in THRESHOLDS}
        lines = [_line(how, score, how) for how, score in of_passages[name].items()]
        rows.append((name, "passage", "\n".join([name, *lines]), AFTER.join(sentences)))
    lines = [
        _line(
            f"{outer} of {inner}",
            aggregate([[part[inner] for part in of_passages.values()]], outer)[0],
            outer,
        )
        for inner in THRESHOLDS
        for outer in THRESHOLDS
    ]
    rows.append(("ranking", "ranking", "\n".join(["ranking", *lines]), AFTER.join(scores)))
    return pd.DataFrame(rows, columns=["box", "group", "text", "after"])


def _line(name: str, score: float, how: Aggregation) -> str:
    decision = "answer" if decide([score], THRESHOLDS[how])[0] else "no answer"
    return f"{name} {score:.2f}: {decision}"
