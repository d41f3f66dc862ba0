"""Released files of CAsT-snippets: snippets that people marked in passages, and time and pay.

Source: Lajewska and Balog, "Towards Filling the Gap in Conversational Search" (CIKM 2023);
lajewska2025, sections 5.3 and 5.4. `FILES` has the registry keys.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pandas as pd

from everycell.collections.rating_files import read_table, refuse_rows
from everycell.collections.snippets import AnnotationError, Span, span_fault
from everycell.engine.untrusted import in_quotes, parse_literal

_Literal = TypeVar("_Literal", bound=Collection)

#: Levels of the annotators' confidence, the lowest first.
CONFIDENCE = ("very_low", "low", "medium", "high", "very_high")

_STUDY = "cast-snippets/snippet_annotation"
_SELECTION = "cast-snippets/relevant_sentence_selection/mturk/subtask_1a"
_DATASET = "cast-snippets/large_scale/all"
_BATCHES = {"2020": 5, "2022": 3}


def _topics(form: str) -> tuple[str, ...]:
    """Files of the two topics."""
    return form.format(1), form.format(2)


#: The authors' agreement and mean confidence of each passage of the data set.
CONFIDENCE_FILE = "cast-snippets/large_scale/jaccard_confidence.csv"

#: Annotated task and group -> registry keys.
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
#: Group -> registry keys of the task before the annotation of sentences: selecting them.
SELECTION_FILES: Mapping[str, tuple[str, ...]] = {
    "selection_regular": _topics(f"{_SELECTION}-topic_{{}}-sentences-regular.csv"),
    "selection_master": _topics(f"{_SELECTION}-topic_{{}}-sentences-masters.csv"),
}


def read_annotations(paths: Sequence[Path], *, per_text: int | None = None) -> pd.DataFrame:
    """Read annotations, one row per text marked by one person."""
    rows = pd.concat([_annotations(path) for path in paths], ignore_index=True)
    texts = rows.groupby(["turn_id", "text_id"], sort=False)
    other = rows["text"] != texts["text"].transform("first")
    if other.any():
        row = rows[other].iloc[0]
        raise AnnotationError(
            f"{row['where']}: the text {row['text_id']} of turn {row['turn_id']} differs "
            "from that of an earlier row; spans count characters of one text, so fetch the "
            "files again (delete them first)."
        )
    if per_text is not None:
        numbers = texts["text"].transform("size")
        if (numbers != per_text).any():
            row = rows[numbers != per_text].iloc[0]
            raise AnnotationError(
                f"{row['where']}: the text {row['text_id']} of turn {row['turn_id']} has "
                f"{numbers[row.name]} annotations where each has {per_text}; add or drop rows."
            )
    return rows.drop(columns="where")


def read_tasks(paths: Sequence[Path]) -> pd.DataFrame:
    """Time and pay, one row per completed task: annotation of a text, or selection of sentences."""
    parts = []
    for path in paths:
        columns = ["Input.turn_id", "Input.passage_id", "WorkTimeInSeconds", "Reward"]
        raw = read_table(path, columns, error=AnnotationError)
        for column, form, allowed in (
            ("WorkTimeInSeconds", r"[1-9][0-9]{0,8}", "whole seconds, 1 or more"),
            ("Reward", r"\$[0-9]{1,9}(\.[0-9]+)?", "USD, such as $0.30"),
        ):
            bad = ~raw[column].str.fullmatch(form)
            refuse_rows(path, raw, column, bad, allowed, AnnotationError)
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
    sentences = "Input.sentence_id" in raw
    # The data set's second column of texts is for the spans that remain after the authors' check.
    texts = "text_spans_2" if "text_spans_2" in raw else "text_spans"
    if texts not in raw:
        raise AnnotationError(f"{path}: lacks the column 'text_spans'; fetch it again.")
    rows = []
    for number, row in enumerate(raw.to_dict("records"), start=1):
        where = f"{path}, row {number}"
        text = row["Input.sentence" if sentences else "Input.passage"]
        spans, confidence = _answer(row["Answer.taskAnswers"], where)
        fault = span_fault(spans, len(text))
        if fault:
            raise AnnotationError(f"{where}: {fault}; correct or drop the row.")
        snippets = tuple(literal(row[texts], list, f"{where}: {texts}"))
        of_spans = tuple(_ascii(text[start:end]) for start, end in spans)
        if snippets != of_spans:
            raise AnnotationError(
                f"{where}: {texts} has {in_quotes(snippets, 300)}, and the text of the spans is "
                f"{in_quotes(of_spans, 300)}; they "
                "must be the same except for characters that are not ASCII, so correct or drop the "
                "row."
            )
        passage = row["Input.passage_id"]
        if passage.startswith("["):  # Prolific's files have a list of one id.
            passage = str(literal(passage, list, f"{where}: Input.passage_id")[0])
        rows.append(
            {
                "turn_id": row["Input.turn_id"],
                "text_id": row["Input.sentence_id"] if sentences else passage,
                "passage_id": passage,
                "worker": row["WorkerId"],
                "text": text,
                "spans": spans,
                "snippets": snippets,
                "confidence": confidence,
                "where": where,
            }
        )
    return pd.DataFrame(rows)


def _answer(answer: str, where: str) -> tuple[tuple[Span, ...], float]:
    """Spans of an answer and its confidence, which is NaN where it was not asked for."""
    parts = literal(answer, list, f"{where}: Answer.taskAnswers")
    try:
        (part,) = parts
        (entities,) = [value["entities"] for value in part.values() if "entities" in value]
        spans = tuple((entity["startOffset"], entity["endOffset"]) for entity in entities)
        answers = dict(part.get("answer_confidence", {}))
        levels = [CONFIDENCE.index(level) + 1 for level, is_chosen in answers.items() if is_chosen]
        sound = isinstance(entities, list) and len(levels) == (1 if answers else 0)
    except (AttributeError, KeyError, TypeError, ValueError):
        spans, levels, sound = (), [], False
    if not sound or not all(type(offset) is int for span in spans for offset in span):
        raise AnnotationError(
            f"{where}: Answer.taskAnswers starts with {answer[:40]!r}; expected a list of one "
            "answer with one list of entities, each with a startOffset and an endOffset in whole "
            f"characters, and one level of confidence ({', '.join(CONFIDENCE)}) or none, so "
            "correct or drop the row."
        )
    return spans, float(levels[0]) if levels else float("nan")


def _ascii(text: str) -> str:
    """A text as the authors released it: without non-ASCII characters."""
    return text.encode("ascii", "ignore").decode()


def literal(value: str, kind: type[_Literal], where: str) -> _Literal:
    """Parse a list or set that a file holds in Python's notation.

    Examples
    --------
    >>> literal("['a', 'b']", list, "x.csv, row 1: spans")
    ['a', 'b']
    >>> literal("set()", set, "x.csv, row 1: sentences")
    set()
    """
    try:
        parsed = parse_literal(value)
    except ValueError:
        parsed = None
    if not isinstance(parsed, kind):
        raise AnnotationError(
            f"{where} is {in_quotes(value)}; expected a {kind.__name__} as a Python literal, so "
            "correct or drop the row."
        )
    return parsed
