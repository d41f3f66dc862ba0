"""Natural Questions with their gold passages, as a pool to search.

Source: Liu et al., "Lost in the Middle: how language models use long contexts" (TACL 2024), after
Kwiatkowski et al., "Natural Questions" (TACL 2019); `KEY` is the registry key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from everycell.collections.errors import CollectionError
from everycell.collections.rows import read_objects
from everycell.engine.untrusted import in_quotes

#: Registry key.
KEY = "nq-open-oracle/nq-open-oracle.jsonl"
#: Numbers of questions and of distinct passages in the pinned file.
COUNTS = (2655, 2588)


class _Strict(BaseModel):
    # Further keys are allowed: files with distractors also have scores and ids.
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
    """The collection; ids are text."""

    questions: pd.DataFrame
    passages: pd.DataFrame
    gold: pd.DataFrame


def read_nq_open(path: Path, *, counts: tuple[int, int] | None = COUNTS) -> NaturalQuestions:
    """Read the file, merge equal passages, and check the result."""
    rows = list(read_objects(path, _Row))
    for number, row in rows:
        _check_row(f"{path}, line {number}", row)
    _refuse_twice(path, rows)
    questions, gold, passages = [], [], {}
    for number, row in rows:
        query = f"q{number:04}"
        questions.append((query, _one_blank(row.question), [*map(_one_blank, row.answers)]))
        for position, passage in enumerate(row.ctxs):
            body, title = _one_blank(passage.text), _one_blank(passage.title)
            text = f"{title}. {body}" if title else body
            name = f"d{number:04}" if position == 0 else f"d{number:04}.{position}"
            document = passages.setdefault(body, (name, title, body, text))[0]
            if passage.isgold:
                gold.append((query, document))
    sizes = (len(rows), len(passages))
    if counts is not None and sizes != counts:
        raise CollectionError(
            f"{path}: has {sizes[0]} questions and {sizes[1]} different passages, and the released "
            f"file {counts[0]} and {counts[1]}; fetch it again (delete it first)."
        )
    return NaturalQuestions(
        pd.DataFrame(questions, columns=["query_id", "text", "answers"]),
        pd.DataFrame(passages.values(), columns=["document_id", "title", "body", "text"]),
        pd.DataFrame(gold, columns=["query", "document"]),
    )


def _check_row(where: str, row: _Row) -> None:
    number_of_gold = sum(passage.isgold for passage in row.ctxs)
    if number_of_gold != 1:
        raise CollectionError(
            f"{where}: {in_quotes(row.question)} has {number_of_gold} gold passages; expected "
            "one, so leave the question out."
        )
    if not all(row.answers):
        raise CollectionError(
            f"{where}: {in_quotes(row.question)} has an answer without a text; remove it."
        )


def _refuse_twice(path: Path, rows: list[tuple[int, _Row]]) -> None:
    """Refuse a duplicate question: its answers could not be told apart."""
    line_of_question: dict[str, int] = {}
    for number, row in rows:
        question = _one_blank(row.question)
        first = line_of_question.setdefault(question, number)
        if first != number:
            raise CollectionError(
                f"{path}, line {number}: {in_quotes(question)} is in line {first} too; a "
                "question has one line, so remove one."
            )


def _one_blank(text: str) -> str:
    return " ".join(text.split())
