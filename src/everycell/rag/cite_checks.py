"""The counterfactual test of citations, on a user's own answers and with a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from everycell.engine.json_lines import read_json_lines
from everycell.engine.untrusted import in_quotes
from everycell.rag.citations import documents as cited_documents
from everycell.rag.citations import find_citations, without_citations
from everycell.rag.draws import named_draws
from everycell.rag.interventions import (
    CitedAnswer,
    Instance,
    Same,
    Statement,
    instances,
    same_words,
    try_instance,
)
from everycell.text.sentences import sentence_spans

#: Largest number of words in a statement: a longer one is a claim by itself, which a document
#: that contains it does support.
LONGEST = 8
#: Page that describes both files.
_GUIDE = "docs/citation-faithfulness.md"
Text = Annotated[str, Field(min_length=1)]
#: A question with its documents.
Context = tuple[str, tuple[str, ...]]


class _Given(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Statement(_Given):
    text: Text
    documents: list[str]


class _Line(_Given):
    question: Text
    documents: Annotated[list[str], Field(min_length=1)]
    answer: str = ""
    statements: list[_Statement] | None = None


class _Passage(_Given):
    id: Text
    text: Text


class GivenAnswer(NamedTuple):
    """An answer with the texts that it was made from."""

    question: str
    documents: tuple[str, ...]
    answer: CitedAnswer


def read_passages(path: Path) -> dict[str, str]:
    """Read passages by their ids."""
    passages: dict[str, str] = {}
    for number, passage in read_json_lines(path, _Passage, _GUIDE):
        if passage.id in passages:
            raise ValueError(
                f"{path}, line {number} has the passage {in_quotes(passage.id)} again: keep one."
            )
        passages[passage.id] = passage.text
    return passages


def read_answers(path: Path, passages: Mapping[str, str]) -> list[GivenAnswer]:
    """Read answers with citations."""
    answers: dict[str, GivenAnswer] = {}
    for number, line in read_json_lines(path, _Line, _GUIDE):
        if line.question in answers:
            raise ValueError(
                f"{path}, line {number} asks {in_quotes(line.question)} again: ask it once."
            )
        for document in line.documents:
            if document not in passages:
                raise ValueError(
                    f"{path}, line {number} has the document {in_quotes(document)}, which is not "
                    "among the passages: give its text."
                )
        texts = tuple(passages[document] for document in line.documents)
        if line.statements is None:
            answer = cited_sentences(line.answer, len(texts))
        else:
            answer = _cited(line, path, number)
        answers[line.question] = GivenAnswer(line.question, texts, answer)
    return list(answers.values())


def _cited(line: _Line, path: Path, number: int) -> CitedAnswer:
    position_of = {document: position for position, document in enumerate(line.documents)}
    statements = []
    for statement in line.statements or ():
        foreign = [document for document in statement.documents if document not in position_of]
        if foreign:
            raise ValueError(
                f"{path}, line {number}: a statement cites {in_quotes(foreign[0])}, which is not "
                "among the question's documents: cite one of them."
            )
        statements.append(
            Statement(statement.text, tuple(position_of[one] for one in statement.documents))
        )
    return CitedAnswer(tuple(statements))


def cited_sentences(text: str, k: int) -> CitedAnswer:
    """Sentences of an answer with the documents that each cites.

    Examples
    --------
    >>> cited_sentences("Owls hunt [1][9]. So do foxes.", 2).statements
    (Statement(text='Owls hunt.', documents=(0,)), Statement(text='So do foxes.', documents=()))
    """
    statements = []
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        cited = cited_documents(find_citations(sentence), k).documents
        bare = without_citations(sentence, k=k).strip()
        if bare:
            statements.append(Statement(bare, tuple(number - 1 for number in cited)))
    return CitedAnswer(tuple(statements))


def forged_instances(
    answers: Sequence[GivenAnswer], *, seed: int, longest: int | None = LONGEST
) -> list[Instance]:
    """Forge documents for all answers."""
    if len(answers) < 2:
        raise ValueError(
            f"There are answers to {len(answers)} questions: give two or more, since a forged "
            "document is one of another question."
        )
    forged: list[Instance] = []
    for number, own_answer in enumerate(answers):
        short = tuple(
            one
            for one in own_answer.answer.statements
            if longest is None or len(one.text.split()) <= longest
        )
        rng = named_draws(f"{seed}\t{own_answer.question}\tforged")
        spare = answers[(number + 1) % len(answers)].documents[0]
        answer = own_answer.answer._replace(statements=short)
        forged += instances(own_answer.question, own_answer.documents, answer, spare, rng)
    if not forged:
        raise ValueError(
            "No answer has a statement "
            + ("" if longest is None else f"of {longest} words or less ")
            + "that cites a document: give short statements, such as the spans that a model "
            "marked, or allow longer ones."
        )
    return forged


def try_all(
    forged: Sequence[Instance],
    ask_all: Callable[[Sequence[Context]], Sequence[CitedAnswer]],
    *,
    seed: int,
    same: Same = same_words,
) -> list[dict[str, object]]:
    """Ask for all instances at once, and then for the controls that their answers require."""
    known: dict[Context, CitedAnswer] = {}
    while True:
        contexts: dict[Context, None] = {}

        def ask(
            question: str, documents: Sequence[str], contexts: dict[Context, None] = contexts
        ) -> CitedAnswer:
            context = (question, tuple(documents))
            if context not in known:
                contexts[context] = None
            # An unknown answer recovers nothing, so that no control is requested.
            return known.get(context, CitedAnswer(()))

        rows = [try_instance(instance, ask, seed=seed, same=same) for instance in forged]
        if not contexts:
            return rows
        known.update(zip(contexts, ask_all(list(contexts)), strict=True))
