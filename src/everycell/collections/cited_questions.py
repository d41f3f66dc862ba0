"""Questions with relevant passages for the study of attribution bias, from a user's files.

A BEIR folder can be converted to this format. It contains ``corpus.jsonl`` (`_id`, `title`,
`text`), ``queries.jsonl`` (`_id`, `text`) and ``qrels/SPLIT.tsv`` (a header, then query, document
and score). Answers are read from a separate file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everycell.base.errors import DataError
from everycell.base.files import atomic_path
from everycell.base.text_files import read_lines
from everycell.base.validation import describe_fault, validate_json

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
        Columns `query`, `text`, `answers` (list of str, which may be empty).
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
        table = validate_json(_MsMarco, "\n".join(line for _, line in read_lines(path)))
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
    return pd.DataFrame(rows, columns=["query", "text", "answers"])


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
            row = validate_json(model, line)
        except ValidationError as error:
            first = error.errors()[0]
            if first["type"] == "json_invalid":
                fault = f"is not JSON ({first['ctx']['error']})"
            elif first["type"] == "model_type":
                fault = "is not a JSON object"
            else:
                fault = f"is invalid: {describe_fault(model, error).rstrip('.')}"
            raise DataError(path, number, fault=fault, fix="correct the line") from None
        yield number, row


#: Files of a BEIR folder.
CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"


class _Lenient(BaseModel):
    # Other keys, such as `metadata`, and white space around texts are ignored.
    model_config = ConfigDict(strict=True, str_strip_whitespace=True)


class _Document(_Lenient):
    id: str = Field(alias="_id", min_length=1)
    title: str = ""
    text: str = ""


class _Query(_Lenient):
    id: str = Field(alias="_id", min_length=1)
    text: str = Field(min_length=1)


class _Answers(_Lenient):
    id: str | None = None
    question: str | None = None
    answers: list[str] = Field(alias="answers", default=[])
    answer: list[str] = []


@dataclass(frozen=True)
class ConversionCounts:
    """Counts of a conversion."""

    questions: int
    answered: int
    passages: int
    left_out: int
    empty: int = 0
    missing_passages: int = 0
    missing_questions: int = 0


def convert_beir(
    folder: Path, target: Path, *, split: str = "test", answers: Path | None = None
) -> ConversionCounts:
    """Convert a BEIR folder to the files that `read_cited_questions` reads."""
    relevant = _read_relevant_documents(folder / "qrels" / f"{split}.tsv")
    return _write_files(folder, target, relevant, read_answers(answers))


def read_answers(path: Path | None) -> Callable[[str, str], list[str]]:
    """Return a function that maps a question's id and text to its correct answers."""
    answers_by_key: dict[tuple[str, str], list[str]] = {}
    if path is not None:
        for _, row in read_objects(path, _Answers):
            correct_answers = row.answers or row.answer
            if row.id is not None:
                answers_by_key["id", row.id] = correct_answers
            if row.question is not None:
                answers_by_key["question", _normalise(row.question)] = correct_answers
        if not answers_by_key:
            raise DataError(
                path,
                fault="has no line with an `id` or a `question`",
                fix='use lines such as {"question": "...", "answers": ["..."]}',
            )
    return lambda key, text: (
        answers_by_key.get(("id", key)) or answers_by_key.get(("question", _normalise(text))) or []
    )


def _normalise(question: str) -> str:
    return " ".join(question.lower().rstrip("? ").split())


def _write_files(
    folder: Path,
    target: Path,
    relevant: Mapping[str, list[str]],
    answers: Callable[[str, str], list[str]],
) -> ConversionCounts:
    """Write both files; passages are streamed because there may be millions."""
    relevant_ids = {document for documents in relevant.values() for document in documents}
    present_ids: set[str] = set()
    passage_ids: set[str] = set()
    question_ids: set[str] = set()
    written = answered = left_out = count = empty = 0
    with atomic_path(target / PASSAGES) as temporary, temporary.open("w", encoding="utf-8") as file:
        for number, item in read_objects(folder / CORPUS, _Document):
            _add_new_id(passage_ids, item.id, folder / CORPUS, number)
            empty += not item.text
            if item.text:
                _write_line(file, {"id": item.id, "title": item.title, "text": item.text})
                count += 1
                if item.id in relevant_ids:
                    present_ids.add(item.id)
    with (
        atomic_path(target / QUESTIONS) as temporary,
        temporary.open("w", encoding="utf-8") as file,
    ):
        for number, item in read_objects(folder / QUERIES, _Query):
            _add_new_id(question_ids, item.id, folder / QUERIES, number)
            documents = [
                document for document in relevant.get(item.id, []) if document in present_ids
            ]
            if not documents:
                left_out += 1
                continue
            correct_answers = answers(item.id, item.text)
            _write_line(
                file,
                {
                    "id": item.id,
                    "question": item.text,
                    "answers": correct_answers,
                    "relevant": documents,
                },
            )
            written += 1
            answered += bool(correct_answers)
        if not written:
            raise DataError(
                fault="No question has a relevant passage in the collection",
                fix="use questions, judgements and passages of the same collection",
            )
    return ConversionCounts(
        written,
        answered,
        count,
        left_out,
        empty,
        missing_passages=len(relevant_ids - passage_ids),
        missing_questions=len(relevant.keys() - question_ids),
    )


def _add_new_id(ids: set[str], key: str, path: Path, number: int) -> None:
    if key in ids:
        raise DataError(path, number, "_id", key, "which occurs twice", fix="remove the duplicate")
    ids.add(key)


def _write_line(file: IO[str], row: Mapping[str, object]) -> None:
    file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _read_relevant_documents(path: Path) -> dict[str, list[str]]:
    """Relevant documents per query, in file order and without duplicates."""
    documents_by_query: dict[str, dict[str, None]] = {}
    lines = ((number, line) for number, line in read_lines(path) if line.strip())
    header = next(lines, (1, ""))[1].split("\t")
    if len(header) != 3 or header[2].strip().lstrip("-").isdecimal():
        raise DataError(
            path,
            fault="lacks the header 'query-id, corpus-id, score'",
            fix="use a file in BEIR's format",
        )
    for number, line in lines:
        row = line.split("\t")
        if len(row) != 3 or not row[0]:
            raise DataError(
                path,
                number,
                value=line,
                expected="'query, tab, document, tab, score'",
                fix="correct the line",
            )
        query, document, score = row
        try:
            level = int(score)
        except ValueError:
            raise DataError(path, number, "score", score, expected="a whole number") from None
        if level > 0:
            documents_by_query.setdefault(query, {})[document] = None
    return {query: list(documents) for query, documents in documents_by_query.items()}
