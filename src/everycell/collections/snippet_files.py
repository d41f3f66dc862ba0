"""Released files of CAsT-snippets: snippets marked by annotators, and their time and pay.

Source: Lajewska and Balog, "Towards Filling the Gap in Conversational Search" (CIKM 2023);
lajewska2025, sections 5.3 and 5.4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pandas as pd

from everycell.base.csv_files import read_table, reject_rows
from everycell.base.untrusted import in_quotes, parse_literal
from everycell.collections.snippets import AnnotationError, Span, span_fault

_Literal = TypeVar("_Literal", bound=Collection)

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


def read_annotations(paths: Sequence[Path], *, per_text: int | None = None) -> pd.DataFrame:
    """Read annotations, with one row per text and annotator."""
    rows = pd.concat([_annotations(path) for path in paths], ignore_index=True)
    texts = rows.groupby(["turn_id", "text_id"], sort=False)
    differs = rows["text"] != texts["text"].transform("first")
    if differs.any():
        row = rows[differs].iloc[0]
        raise AnnotationError(
            f"{row['location']}: the text {row['text_id']} of turn {row['turn_id']} differs from "
            "that of an earlier row, so spans are not comparable; fetch the files again (delete "
            "them first)."
        )
    if per_text is not None:
        counts = texts["text"].transform("size")
        if (counts != per_text).any():
            row = rows[counts != per_text].iloc[0]
            raise AnnotationError(
                f"{row['location']}: the text {row['text_id']} of turn {row['turn_id']} has "
                f"{counts[row.name]} annotations, expected {per_text}; add or remove rows."
            )
    return rows.drop(columns="location")


def read_tasks(paths: Sequence[Path]) -> pd.DataFrame:
    """Read time and pay, with one row per completed annotation or selection task."""
    parts = []
    for path in paths:
        columns = ["Input.turn_id", "Input.passage_id", "WorkTimeInSeconds", "Reward"]
        raw = read_table(path, columns, error=AnnotationError)
        for column, form, allowed in (
            ("WorkTimeInSeconds", r"[1-9][0-9]{0,8}", "a positive whole number of seconds"),
            ("Reward", r"\$[0-9]{1,9}(\.[0-9]+)?", "USD, such as $0.30"),
        ):
            is_invalid = ~raw[column].str.fullmatch(form)
            reject_rows(path, raw, column, is_invalid, allowed, AnnotationError)
        parts.append(
            pd.DataFrame(
                {
                    "turn_id": raw["Input.turn_id"],
                    "passage_id": raw["Input.passage_id"],
                    "seconds": raw["WorkTimeInSeconds"].astype(int),
                    "reward": raw["Reward"].str.removeprefix("$").astype(float),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _annotations(path: Path) -> pd.DataFrame:
    raw = read_table(
        path,
        ["WorkerId", "Input.turn_id", "Input.passage_id", "Input.passage", "Answer.taskAnswers"],
        error=AnnotationError,
    )
    has_sentences = "Input.sentence_id" in raw
    # text_spans_2 has the texts of the spans that remain after the authors' check.
    snippet_column = "text_spans_2" if "text_spans_2" in raw else "text_spans"
    if snippet_column not in raw:
        raise AnnotationError(f"{path} lacks the column 'text_spans'; fetch it again.")
    rows = []
    for number, row in enumerate(raw.to_dict("records"), start=1):
        location = f"{path}, row {number}"
        text = row["Input.sentence" if has_sentences else "Input.passage"]
        spans, confidence = _parse_answer(row["Answer.taskAnswers"], location)
        fault = span_fault(spans, len(text))
        if fault:
            raise AnnotationError(f"{location}: {fault}; correct or remove the row.")
        snippets = tuple(
            parse_list_or_set(row[snippet_column], list, f"{location}: {snippet_column}")
        )
        span_texts = tuple(_remove_non_ascii(text[start:end]) for start, end in spans)
        if snippets != span_texts:
            raise AnnotationError(
                f"{location}: {snippet_column} has {in_quotes(snippets, 300)}, but the spans have "
                f"the text {in_quotes(span_texts, 300)}; they must be equal except for non-ASCII "
                "characters, so correct or remove the row."
            )
        passage = row["Input.passage_id"]
        if passage.startswith("["):  # Prolific's files contain a list with one id.
            passage = str(parse_list_or_set(passage, list, f"{location}: Input.passage_id")[0])
        rows.append(
            {
                "turn_id": row["Input.turn_id"],
                "text_id": row["Input.sentence_id"] if has_sentences else passage,
                "passage_id": passage,
                "worker": row["WorkerId"],
                "text": text,
                "spans": spans,
                "snippets": snippets,
                "confidence": confidence,
                "location": location,
            }
        )
    return pd.DataFrame(rows)


def _parse_answer(answer: str, location: str) -> tuple[tuple[Span, ...], float]:
    """Spans of an answer and its confidence, which is NaN if it was not collected."""
    parts = parse_list_or_set(answer, list, f"{location}: Answer.taskAnswers")
    try:
        (part,) = parts
        (entities,) = [value["entities"] for value in part.values() if "entities" in value]
        spans = tuple((entity["startOffset"], entity["endOffset"]) for entity in entities)
        answers = dict(part.get("answer_confidence", {}))
        levels = [CONFIDENCE.index(level) + 1 for level, is_chosen in answers.items() if is_chosen]
        is_valid = isinstance(entities, list) and len(levels) == (1 if answers else 0)
    except (AttributeError, KeyError, TypeError, ValueError):
        spans, levels, is_valid = (), [], False
    if not is_valid or not all(type(offset) is int for span in spans for offset in span):
        raise AnnotationError(
            f"{location}: Answer.taskAnswers starts with {answer[:40]!r}; expected a list of one "
            "answer with one list of entities, each with an integer startOffset and endOffset, and "
            f"at most one level of confidence ({', '.join(CONFIDENCE)}), so correct or remove the "
            "row."
        )
    return spans, float(levels[0]) if levels else float("nan")


def _remove_non_ascii(text: str) -> str:
    """Remove non-ASCII characters from a text, as in the released snippets."""
    return text.encode("ascii", "ignore").decode()


def parse_list_or_set(value: str, kind: type[_Literal], location: str) -> _Literal:
    """Parse a list or set in Python's notation."""
    try:
        parsed = parse_literal(value)
    except ValueError:
        parsed = None
    if not isinstance(parsed, kind):
        raise AnnotationError(
            f"{location} is {in_quotes(value)}; expected a {kind.__name__} as a Python literal, so "
            "correct or remove the row."
        )
    return parsed
