"""Counterfactual test of citations, on a file of answers and with a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from everycell.base.errors import DataError
from everycell.base.text_files import read_json_lines
from everycell.base.untrusted import in_quotes
from everycell.language_models.endings import normalise_finish, why_cut, why_empty
from everycell.language_models.generation import Answer
from everycell.rag.citation_marks import unread_marks
from everycell.rag.citations import source_list_of
from everycell.rag.cited_sentences import cited_sentences
from everycell.rag.interventions import (
    CitedAnswer,
    Instance,
    Same,
    Statement,
    instances,
    same_words,
    try_instance,
)
from everycell.rag.prompts import named_draws

#: Largest number of words in a statement. A longer one is a complete claim, which any document that
#: contains it supports.
LONGEST = 8
#: Page that describes the files of passages and answers.
_GUIDE = "docs/citation-faithfulness.md"
Text = Annotated[str, Field(min_length=1)]
#: A question with its documents.
Context = tuple[str, tuple[str, ...]]


class _InputLine(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Statement(_InputLine):
    text: Text
    documents: list[str]


class _AnswerLine(_InputLine):
    question: Text
    documents: Annotated[list[str], Field(min_length=1)]
    #: Null if the server sent no text, which is an empty answer.
    answer: str | None = ""
    finish: Annotated[
        str | None, Field(validation_alias=AliasChoices("finish", "finish_reason"))
    ] = None
    statements: list[_Statement] | None = None

    @property
    def output(self) -> str:
        return self.answer or ""


class _PassageLine(_InputLine):
    id: Text
    text: Text


class GivenAnswer(NamedTuple):
    """An answer with the texts of its documents."""

    question: str
    documents: tuple[str, ...]
    answer: CitedAnswer
    unread: tuple[str, ...] = ()
    source_list: str = ""
    #: Reasons why it is empty or cut off ("" if it is not).
    empty: str = ""
    cut: str = ""


def read_passages(path: Path) -> dict[str, str]:
    """Read passages by their ids."""
    passages: dict[str, str] = {}
    for number, passage in read_json_lines(path, _PassageLine, _GUIDE):
        if passage.id in passages:
            raise DataError(path, number, "id", passage.id, "which occurs twice", fix="keep one")
        passages[passage.id] = passage.text
    return passages


def read_answers(path: Path, passages: Mapping[str, str]) -> list[GivenAnswer]:
    """Read answers with citations."""
    answers: dict[str, GivenAnswer] = {}
    for number, line in read_json_lines(path, _AnswerLine, _GUIDE):
        if line.question in answers:
            raise DataError(
                path, number, "question", line.question, "which occurs twice", fix="keep one"
            )
        for document in line.documents:
            if document not in passages:
                raise DataError(
                    path,
                    number,
                    "document",
                    document,
                    "which is not among the passages",
                    fix="add its text",
                )
        texts = tuple(passages[document] for document in line.documents)
        if line.statements is None:
            ended = Answer(text=line.output, finish=normalise_finish(line.finish))
            answers[line.question] = GivenAnswer(
                line.question,
                texts,
                cited_sentences(line.output, len(texts)),
                tuple(unread_marks(line.output)),
                source_list_of(line.output),
                why_empty(ended),
                why_cut(ended),
            )
        else:
            statements = _marked_statements(line, path, number)
            answers[line.question] = GivenAnswer(line.question, texts, statements)
    return list(answers.values())


def _marked_statements(line: _AnswerLine, path: Path, number: int) -> CitedAnswer:
    position_of = {document: position for position, document in enumerate(line.documents)}
    statements = []
    for statement in line.statements or ():
        unknown = [document for document in statement.documents if document not in position_of]
        if unknown:
            raise DataError(
                path,
                number,
                "cited document",
                unknown[0],
                "which is not among the question's documents",
                fix="cite one of them",
            )
        statements.append(
            Statement(statement.text, tuple(position_of[name] for name in statement.documents))
        )
    return CitedAnswer(tuple(statements))


def forged_instances(
    answers: Sequence[GivenAnswer], *, seed: int, longest: int | None = LONGEST
) -> list[Instance]:
    """Create instances with forged documents for all answers."""
    if len(answers) < 2:
        raise DataError(
            column="number of answered questions",
            value=len(answers),
            expected="at least 2, since one kind of forged document comes from another question",
        )
    forged: list[Instance] = []
    for number, item in enumerate(answers):
        short = tuple(
            statement
            for statement in item.answer.statements
            if longest is None or len(statement.text.split()) <= longest
        )
        rng = named_draws(f"{seed}\t{item.question}\tforged")
        spare = answers[(number + 1) % len(answers)].documents[0]
        answer = item.answer._replace(statements=short)
        forged += instances(item.question, item.documents, answer, spare, rng)
    if not forged:
        length = "" if longest is None else f" of at most {longest} words"
        raise DataError(
            fault=f"No answer has a statement{length} that cites a document{_unread_note(answers)}",
            fix="give short statements, such as spans marked by a model, or allow longer ones",
        )
    return forged


def _unread_note(answers: Sequence[GivenAnswer]) -> str:
    marks = [mark for answer in answers for mark in answer.unread]
    if not marks:
        return ""
    return (
        f" ({len(marks)} marks look like citations and are not read, such as {in_quotes(marks[0])})"
    )


def try_all(
    forged: Sequence[Instance],
    ask_all: Callable[[Sequence[Context]], Sequence[CitedAnswer]],
    *,
    seed: int,
    same: Same = same_words,
) -> list[dict[str, object]]:
    """Try all instances: send their requests together, then those of their controls."""
    known: dict[Context, CitedAnswer] = {}
    while True:
        contexts: dict[Context, None] = {}

        def ask(
            question: str, documents: Sequence[str], contexts: dict[Context, None] = contexts
        ) -> CitedAnswer:
            context = (question, tuple(documents))
            if context not in known:
                contexts[context] = None
            # A missing answer recovers nothing, so its controls are not requested yet.
            return known.get(context, CitedAnswer(()))

        rows = [try_instance(instance, ask, seed=seed, same=same) for instance in forged]
        if not contexts:
            return rows
        known.update(zip(contexts, ask_all(list(contexts)), strict=True))
