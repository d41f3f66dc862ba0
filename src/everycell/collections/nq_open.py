"""Natural Questions with their gold passages as a test collection.

Source: Liu et al., "Lost in the Middle: how language models use long contexts" (TACL 2024), after
Kwiatkowski et al., "Natural Questions" (TACL 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from everycell.base.errors import CollectionError
from everycell.base.untrusted import in_quotes
from everycell.collections.rows import read_objects

#: Registry key of the released file.
KEY = "nq-open-oracle/nq-open-oracle.jsonl"
#: Numbers of questions and of distinct passages in the released file.
COUNTS = (2655, 2588)


class _Strict(BaseModel):
    # Other keys are ignored: files with distractors also have scores and ids.
    model_config = ConfigDict(strict=True, str_strip_whitespace=True)


class _Passage(_Strict):
    title: str
    text: str = Field(min_length=1)
    isgold: bool


class _Row(_Strict):
    question: str = Field(min_length=1)
    answers: list[str] = Field(min_length=1)
    ctxs: list[_Passage]


@dataclass(frozen=True)
class NaturalQuestions:
    """Questions, passages, and the gold passages of questions; ids are strings."""

    questions: pd.DataFrame
    passages: pd.DataFrame
    gold: pd.DataFrame


def read_nq_open(path: Path, *, counts: tuple[int, int] | None = COUNTS) -> NaturalQuestions:
    """Read the file, merge identical passages, and check the result."""
    rows = list(read_objects(path, _Row))
    for number, row in rows:
        _check_row(f"{path}, line {number}", row)
    _check_questions(path, rows)
    questions, gold, passages = [], [], {}
    for number, row in rows:
        query = f"q{number:04}"
        answers = [_normalise_space(answer) for answer in row.answers]
        questions.append((query, _normalise_space(row.question), answers))
        for position, passage in enumerate(row.ctxs):
            body, title = _normalise_space(passage.text), _normalise_space(passage.title)
            text = f"{title}. {body}" if title else body
            name = f"d{number:04}" if position == 0 else f"d{number:04}.{position}"
            document = passages.setdefault(body, (name, title, body, text))[0]
            if passage.isgold:
                gold.append((query, document))
    sizes = (len(rows), len(passages))
    if counts is not None and sizes != counts:
        raise CollectionError(
            f"{path} has {sizes[0]} questions and {sizes[1]} distinct passages, expected "
            f"{counts[0]} and {counts[1]}; fetch it again (delete it first)."
        )
    return NaturalQuestions(
        pd.DataFrame(questions, columns=["query_id", "text", "answers"]),
        pd.DataFrame(passages.values(), columns=["document_id", "title", "body", "text"]),
        pd.DataFrame(gold, columns=["query", "document"]),
    )


def _check_row(location: str, row: _Row) -> None:
    gold_count = sum(passage.isgold for passage in row.ctxs)
    if gold_count != 1:
        raise CollectionError(
            f"{location}: {in_quotes(row.question)} has {gold_count} gold passages; expected one, "
            "so remove the question."
        )
    if not all(row.answers):
        raise CollectionError(
            f"{location}: {in_quotes(row.question)} has an empty answer; remove it."
        )


def _check_questions(path: Path, rows: list[tuple[int, _Row]]) -> None:
    """Raise an error if a question occurs twice."""
    line_of_question: dict[str, int] = {}
    for number, row in rows:
        question = _normalise_space(row.question)
        first = line_of_question.setdefault(question, number)
        if first != number:
            raise CollectionError(
                f"{path}, line {number}: {in_quotes(question)} is also on line {first}; remove one "
                "of the lines."
            )


def _normalise_space(text: str) -> str:
    return " ".join(text.split())
