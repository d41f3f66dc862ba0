"""Report on citations in a file of answers: quality, confidence, and effects of labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from everycell.base.errors import DataError
from everycell.base.text_files import read_json_lines
from everycell.base.untrusted import in_quotes
from everycell.language_models.endings import normalise_finish, why_cut, why_empty
from everycell.language_models.generation import LEAST_LOGPROB, Answer, Token
from everycell.metrics.attribution import (
    attribution_confidence,
    cas,
    citation_quality,
    paired_difference,
    ratio_interval,
)
from everycell.rag.citation_marks import Forms, unread_marks
from everycell.rag.citations import (
    citation_logprobs,
    divide_citations,
    find_citations,
    source_list_of,
    written_citations,
)

#: Default condition.
CONDITION = "all"
MEASURES = ("precision", "recall")
#: Whether citations of non-existent documents are ignored or count as wrong.
Strays = Literal["ignored", "wrong"]


class _Line(BaseModel):
    """A line of a file of cited answers (see docs/attribution.md)."""

    model_config = ConfigDict(extra="ignore", strict=True)

    question: Annotated[str, Field(min_length=1)]
    #: Null if the server sent no text, which is an empty answer.
    answer: str | None
    documents: Annotated[list[str], Field(min_length=1)] | Annotated[int, Field(ge=1, le=1_000_000)]
    relevant: Annotated[list[str | int], Field(min_length=1)]
    condition: Annotated[str, Field(min_length=1)] = CONDITION
    finish: Annotated[
        str | None, Field(validation_alias=AliasChoices("finish", "finish_reason"))
    ] = None
    tokens: list[tuple[str, float]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        # JSON has lists, but pydantic's strict mode requires tuples.
        if isinstance(value, dict) and isinstance(value.get("tokens"), list):
            pairs = [
                tuple(token) if isinstance(token, list) else token for token in value["tokens"]
            ]
            return value | {"tokens": pairs}
        return value

    @property
    def text(self) -> str:
        return self.answer or ""


class AnswerCitations(NamedTuple):
    """Citations of one answer."""

    question: str
    condition: str
    relevant: frozenset[int]
    cited: tuple[int, ...]
    stray: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    cites_relevant: tuple[bool, ...]
    unread: tuple[str, ...] = ()
    #: Lists of sources, whose marks do not count.
    source_list: str = ""
    #: Reasons why the answer is empty or cut off ("" if it is not).
    empty: str = ""
    cut: str = ""


def read_cited_answers(path: Path, *, forms: Forms = "all") -> list[AnswerCitations]:
    """Read answers from a file of JSON lines, with their citations."""
    answers: dict[tuple[str, str], AnswerCitations] = {}
    for number, line in read_json_lines(path, _Line, "docs/attribution.md"):
        key = (line.condition, line.question)
        if key in answers:
            raise DataError(
                path,
                number,
                "question",
                line.question,
                f"which occurs twice in the condition {in_quotes(line.condition)}",
                fix="keep one answer",
            )
        answers[key] = _parse_line(line, path, number, forms)
    return list(answers.values())


def _document_names(line: _Line, path: Path, number: int) -> Sequence[str | int]:
    """Names of the documents in the order of their numbers; a range saves memory."""
    if isinstance(line.documents, int):
        return range(1, line.documents + 1)
    if len(set(line.documents)) < len(line.documents):
        raise DataError(
            path, number, "documents", fault="have a duplicate", fix="remove the duplicate"
        )
    return line.documents


def _parse_line(line: _Line, path: Path, number: int, forms: Forms) -> AnswerCitations:
    names = _document_names(line, path, number)
    k = len(names)
    unknown = [document for document in line.relevant if document not in names]
    if unknown:
        raise DataError(
            path,
            number,
            "relevant document",
            unknown[0],
            f"which is not among its {k} documents",
            fix="give its id, or its number from 1 if `documents` is a number",
        )
    relevant = frozenset(names.index(document) + 1 for document in line.relevant)
    citations = find_citations(line.text, forms=forms)
    cited = divide_citations(citations, k)
    logprobs, cites_relevant = None, ()
    if line.tokens is not None:
        if "".join(text for text, _ in line.tokens) != line.text:
            raise DataError(
                path, number, "tokens", fault="do not spell the answer", fix="give its tokens"
            )
        invalid = [value for _, value in line.tokens if not value <= 0]
        if invalid:
            raise DataError(
                path,
                number,
                "log-probability",
                invalid[0],
                expected="a natural logarithm of 0 or less",
            )
        # JSON of Python may have -Infinity.
        tokens = tuple(
            Token(text=text, logprob=max(LEAST_LOGPROB, value)) for text, value in line.tokens
        )
        answer = Answer(text=line.text, finish="stop", tokens=tokens)
        logprobs = tuple(citation_logprobs(answer, citations))
        written = written_citations(citations, line.text)
        cites_relevant = tuple(citation.number in relevant for citation in written)
    unread = tuple(unread_marks(line.text, forms=forms))
    ended = Answer(text=line.text, finish=normalise_finish(line.finish))
    return AnswerCitations(
        line.question,
        line.condition,
        relevant,
        cited.documents,
        cited.stray,
        logprobs,
        cites_relevant,
        unread,
        source_list_of(line.text) if forms == "all" else "",
        why_empty(ended),
        why_cut(ended),
    )


def answer_frame(answers: Iterable[AnswerCitations], *, strays: Strays = "ignored") -> pd.DataFrame:
    """Precision, recall and numbers of citations, one row per answer."""
    rows = [
        {
            "condition": answer.condition,
            "question": answer.question,
            **citation_quality(
                [*answer.cited, *(answer.stray if strays == "wrong" else ())], answer.relevant
            )._asdict(),
            "citations": len(answer.cited),
            "stray": len(answer.stray),
            "empty": answer.empty != "",
            "cut off": answer.cut != "",
        }
        for answer in answers
    ]
    return pd.DataFrame(rows)


def citation_report(
    answers: Sequence[AnswerCitations], *, strays: Strays = "ignored", seed: int = 0
) -> pd.DataFrame:
    """Quality of the citations, one row per condition."""
    frame = answer_frame(answers, strays=strays)
    rows = []
    for condition, rows_of_condition in frame.groupby("condition", sort=False):
        row: dict[str, object] = {"condition": condition, "answers": len(rows_of_condition)}
        for measure in MEASURES:
            values = rows_of_condition[measure].to_numpy()
            low, high = math.nan, math.nan
            if len(values) > 1:
                low, high = ratio_interval(values, np.ones(len(values)), seed=seed)
            row |= {measure: values.mean(), f"{measure} low": low, f"{measure} high": high}
        row |= {
            "citing": (rows_of_condition["citations"] > 0).mean(),
            "stray": (rows_of_condition["stray"] > 0).mean(),
            "citations": rows_of_condition["citations"].mean(),
            "empty": rows_of_condition["empty"].mean(),
            "cut off": rows_of_condition["cut off"].mean(),
        }
        scored = [
            answer
            for answer in answers
            if answer.condition == condition and answer.logprobs is not None
        ]
        for name, relevant in (("confidence", True), ("confidence in others", False)):
            masks = [[mark is relevant for mark in answer.cites_relevant] for answer in scored]
            value = attribution_confidence([answer.logprobs or () for answer in scored], masks)
            row[name] = math.nan if value is None else value
        rows.append(row)
    return pd.DataFrame(rows)


def condition_differences(
    answers: Sequence[AnswerCitations],
    pairs: Iterable[tuple[str, str]],
    *,
    strays: Strays = "ignored",
    seed: int = 0,
) -> pd.DataFrame:
    """Effect of a condition on precision and recall: sensitivity and bias."""
    frame = answer_frame(answers, strays=strays).set_index("question")
    conditions = {condition: rows for condition, rows in frame.groupby("condition", sort=False)}
    rows = []
    for first, second in pairs:
        for condition in (first, second):
            if condition not in conditions:
                raise DataError(
                    column="condition",
                    value=condition,
                    fault="which has no answers",
                    expected=f"one of {', '.join(conditions)}",
                )
        first_scores, second_scores = conditions[first], conditions[second]
        for condition, own, opposite in (
            (second, second_scores, first_scores),
            (first, first_scores, second_scores),
        ):
            missing = opposite.index.difference(own.index, sort=False)
            if len(missing):
                raise DataError(
                    row=f"condition {condition}",
                    column="question",
                    value=missing[0],
                    fault=f"which has no answer ({len(missing)} questions in total)",
                    fix="compare conditions with the same questions",
                )
        second_scores = second_scores.loc[first_scores.index]
        for measure in MEASURES:
            values = first_scores[measure].to_numpy(), second_scores[measure].to_numpy()
            difference = paired_difference(*values, seed=seed)
            rows.append(
                {"first": first, "second": second, "measure": measure}
                | {"questions": len(first_scores)}
                | {"sensitivity": cas(*values), "bias": difference.mean}
                | {
                    "low": difference.low,
                    "high": difference.high,
                    "t": difference.t,
                    "p": difference.p,
                }
            )
    return pd.DataFrame(rows)
