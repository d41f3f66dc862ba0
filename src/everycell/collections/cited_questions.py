"""Questions with relevant passages for the study of attribution bias, from a user's files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everycell.base.errors import DataError
from everycell.base.text_files import read_lines
from everycell.base.validation import describe_fault

#: Names of the files in a folder.
QUESTIONS, PASSAGES = "questions.jsonl", "passages.jsonl"
#: Placeholder of MS MARCO for questions without an answer.
_NO_ANSWER = "No Answer Present."


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, str_strip_whitespace=True)


class _Identified(_Strict):
    id: str = Field(min_length=1)


class _Question(_Identified):
    question: str = Field(min_length=1)
    answers: list[str] = []
    relevant: list[str]


class _Passage(_Identified):
    title: str = ""
    text: str = Field(min_length=1)


_Item = TypeVar("_Item", bound=_Identified)
_Row = TypeVar("_Row", bound=BaseModel)


class _MsMarcoPassage(_Strict):
    is_selected: int
    passage_text: str


class _MsMarco(_Strict):
    query: dict[str, str]
    query_id: dict[str, int]
    answers: dict[str, list[str]]
    passages: dict[str, list[_MsMarcoPassage]]


@dataclass(frozen=True)
class CitedQuestions:
    """Questions, passages and relevance judgements; ids are strings.

    Attributes
    ----------
    questions : pandas.DataFrame
        Columns `query_id`, `text`, `answers` (list of str, which may be empty).
    passages : pandas.DataFrame
        Columns `document_id`, `title` (may be empty), `body` and `text` ("Title. body").
    relevant : pandas.DataFrame
        Columns `query`, `document`.
    run : pandas.DataFrame or None
        Columns `query`, `document`, `score`: passages in their published order.
    empty : int
        Number of passages without text, which are left out.
    """

    questions: pd.DataFrame
    passages: pd.DataFrame
    relevant: pd.DataFrame
    run: pd.DataFrame | None = None
    empty: int = 0


def read_cited_questions(folder: Path) -> CitedQuestions:
    """Read a folder with questions and passages."""
    questions = _lines(folder / QUESTIONS, _Question)
    passages = _lines(folder / PASSAGES, _Passage)
    passage_ids = {passage.id for passage in passages}
    for question in questions:
        for document in question.relevant:
            if document not in passage_ids:
                raise DataError(
                    folder / QUESTIONS,
                    f"question {question.id}",
                    "relevant",
                    document,
                    f"which is not in {PASSAGES}",
                    fix="add the passage",
                )
    pairs = [(row.id, document) for row in questions for document in row.relevant]
    return CitedQuestions(
        _questions([(row.id, row.question, row.answers) for row in questions]),
        _passages([(row.id, row.title, row.text) for row in passages]),
        pd.DataFrame(pairs, columns=["query", "document"]),
    )


def read_msmarco_qa(path: Path) -> CitedQuestions:
    """Read a file of MS MARCO QA 2.1."""
    try:
        table = _MsMarco.model_validate_json("\n".join(line for _, line in read_lines(path)))
    except ValidationError as error:
        fault = f"is invalid: {describe_fault(_MsMarco, error).rstrip('.')}"
        raise DataError(path, fault=fault, fix="unpack the downloaded file again") from None
    questions, passages, relevant, run, empty = [], [], [], [], 0
    for row, text in table.query.items():
        if not all(row in part for part in (table.query_id, table.answers, table.passages)):
            raise DataError(
                path,
                column="row",
                value=row,
                fault="which is missing from query_id, answers or passages",
                fix="unpack the downloaded file again",
            )
        query = str(table.query_id[row])
        answers = [answer for answer in table.answers[row] if answer and answer != _NO_ANSWER]
        questions.append((query, text, answers))
        for position, passage in enumerate(table.passages[row]):
            if not passage.passage_text:
                empty += 1
                continue
            document = f"{query}.{position + 1}"
            passages.append((document, "", passage.passage_text))
            run.append((query, document, -position))
            if passage.is_selected:
                relevant.append((query, document))
    return CitedQuestions(
        _questions(questions),
        _passages(passages),
        pd.DataFrame(relevant, columns=["query", "document"]),
        pd.DataFrame(run, columns=["query", "document", "score"]),
        empty,
    )


def _questions(rows: list[tuple[str, str, list[str]]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["query_id", "text", "answers"])


def _passages(rows: list[tuple[str, str, str]]) -> pd.DataFrame:
    passages = pd.DataFrame(rows, columns=["document_id", "title", "body"])
    titles = passages["title"].where(passages["title"] == "", passages["title"] + ". ")
    return passages.assign(text=titles + passages["body"])


def _lines(path: Path, model: type[_Item]) -> list[_Item]:
    """Read the objects of a file of JSON lines, and check that their ids are unique."""
    items: dict[str, _Item] = {}
    for number, item in read_objects(path, model):
        if item.id in items:
            raise DataError(
                path, number, "id", item.id, "which occurs twice", fix="make ids unique"
            )
        items[item.id] = item
    if not items:
        raise DataError(path, fault="is empty", fix="write one JSON object per line")
    return list(items.values())


def read_objects(path: Path, model: type[_Row]) -> Iterator[tuple[int, _Row]]:
    """Read the objects of a file of JSON lines with their line numbers; skip blank lines."""
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            row = model.model_validate_json(line)
        except ValidationError as error:
            fault = (
                "is not a JSON object"
                if error.errors()[0]["type"] in ("json_invalid", "model_type")
                else f"is invalid: {describe_fault(model, error).rstrip('.')}"
            )
            raise DataError(path, number, fault=fault, fix="correct the line") from None
        yield number, row
