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
    found: dict[str, str] = {}
    for number, passage in read_json_lines(path, _Passage, _GUIDE):
        if passage.id in found:
            raise ValueError(
                f"{path}, line {number} has the passage {in_quotes(passage.id)} again: keep one."
            )
        found[passage.id] = passage.text
    return found


def read_answers(path: Path, passages: Mapping[str, str]) -> list[GivenAnswer]:
    """Read answers with citations."""
    found: dict[str, GivenAnswer] = {}
    for number, line in read_json_lines(path, _Line, _GUIDE):
        if line.question in found:
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
        found[line.question] = GivenAnswer(line.question, texts, answer)
    return list(found.values())


def _cited(line: _Line, path: Path, number: int) -> CitedAnswer:
    places = {document: place for place, document in enumerate(line.documents)}
    statements = []
    for each in line.statements or ():
        foreign = [document for document in each.documents if document not in places]
        if foreign:
            raise ValueError(
                f"{path}, line {number}: a statement cites {in_quotes(foreign[0])}, which is not "
                "among the question's documents: cite one of them."
            )
        statements.append(Statement(each.text, tuple(places[one] for one in each.documents)))
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
    given: Sequence[GivenAnswer], *, seed: int, longest: int | None = LONGEST
) -> list[Instance]:
    """Forge documents for all answers."""
    if len(given) < 2:
        raise ValueError(
            f"There are answers to {len(given)} questions: give two or more, since a forged "
            "document is one of another question."
        )
    found: list[Instance] = []
    for place, each in enumerate(given):
        short = tuple(
            one
            for one in each.answer.statements
            if longest is None or len(one.text.split()) <= longest
        )
        rng = named_draws(f"{seed}\t{each.question}\tforged")
        spare = given[(place + 1) % len(given)].documents[0]
        answer = each.answer._replace(statements=short)
        found += instances(each.question, each.documents, answer, spare, rng)
    if not found:
        raise ValueError(
            "No answer has a statement "
            + ("" if longest is None else f"of {longest} words or less ")
            + "that cites a document: give short statements, such as the spans that a model "
            "marked, or allow longer ones."
        )
    return found


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
        wanted: dict[Context, None] = {}

        def ask(
            question: str, documents: Sequence[str], wanted: dict[Context, None] = wanted
        ) -> CitedAnswer:
            context = (question, tuple(documents))
            if context not in known:
                wanted[context] = None
            # An unknown answer recovers nothing, so that no control is requested.
            return known.get(context, CitedAnswer(()))

        rows = [try_instance(each, ask, seed=seed, same=same) for each in forged]
        if not wanted:
            return rows
        known.update(zip(wanted, ask_all(list(wanted)), strict=True))
