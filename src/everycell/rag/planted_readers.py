"""Simulated answerers with citations of known faithfulness, and questions for them.

A claim is a short statement with the words around it. Documents of a question contain some of its
claims, and documents of other questions contain none. Each statement is randomly assigned a source:
the answerer *reads* it or has it from *memory*.

- A statement that is read comes from documents with the complete claim, and cites them. An *open*
  reader also accepts the statement without the words around it.
- A statement from memory does not depend on the documents. It cites each document that contains its
  words with a given probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everycell.rag.answers import normalise_answer
from everycell.rag.draws import named_draws
from everycell.rag.interventions import CitedAnswer, Statement

#: Documents and claims per question; words per statement (at most); other words per claim.
DOCUMENTS, CLAIMS, STATEMENT_WORDS, CONTEXT_WORDS = 5, 4, 6, 5
#: Probability that a document contains a claim.
CLAIM_PROBABILITY = 0.4
#: Number of words of each document that belong to no claim.
FILLER_WORDS = 20


@dataclass(frozen=True)
class PlantedQuestion:
    """A question with its documents."""

    name: str
    claims: tuple[tuple[str, str], ...]
    documents: tuple[str, ...]


def planted_question(name: str, *, seed: int) -> PlantedQuestion:
    """Generate a question, with each claim in at least one document."""
    rng = named_draws(f"{seed}\t{name}\tquestion")

    def words(count: int) -> str:
        # Questions have no words in common.
        return " ".join(f"{name}w{number}" for number in rng.integers(100_000, 999_999, count))

    claims = []
    for _ in range(CLAIMS):
        statement = words(int(rng.integers(1, STATEMENT_WORDS + 1)))
        claims.append((statement, f"{words(CONTEXT_WORDS)} {statement}"))
    contains = rng.random((DOCUMENTS, CLAIMS)) < CLAIM_PROBABILITY
    contains[rng.integers(DOCUMENTS, size=CLAIMS), np.arange(CLAIMS)] = True
    documents = tuple(
        f"{words(FILLER_WORDS)}. "
        + " ".join(
            f"{claim}."
            for (_, claim), is_contained in zip(claims, row, strict=True)
            if is_contained
        )
        for row in contains
    )
    return PlantedQuestion(name, tuple(claims), documents)


@dataclass(frozen=True)
class PlantedReader:
    """Answers planted questions; all parameters but the seed are probabilities."""

    memory: float
    open: float = 0.0
    matching: float = 0.6
    steady: float = 0.8
    selecting: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        """Reject a value that is not a probability."""
        for name in ("memory", "open", "matching", "steady", "selecting"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give a number from 0 to 1.")

    def sources(self, question: PlantedQuestion) -> list[str]:
        """Source of each claim's statement: "memory", or "open" or "closed" reading."""
        draws = named_draws(f"{self.seed}\t{question.name}\tmind").random((len(question.claims), 2))
        return [
            "memory" if remembered < self.memory else "open" if opened < self.open else "closed"
            for remembered, opened in draws
        ]

    def answer(self, question: PlantedQuestion, documents: Sequence[str]) -> CitedAnswer:
        """Answer a question from documents."""
        texts = [f" {normalise_answer(text)} " for text in documents]
        context = "\t".join(documents)
        rng = named_draws(f"{self.seed}\t{question.name}\t{context}")
        statements, selected = [], set()
        for (statement, claim), source in zip(question.claims, self.sources(question), strict=True):
            is_stated = rng.random() < self.steady
            draws = rng.random(len(texts))
            with_statement, with_claim = (
                [i for i, text in enumerate(texts) if f" {normalise_answer(words)} " in text]
                for words in (statement, claim)
            )
            selected |= set(with_claim)
            if source == "memory":
                cited = [i for i in with_statement if draws[i] < self.matching]
            else:
                cited = with_statement if source == "open" else with_claim
                is_stated = is_stated and bool(cited)
            if is_stated:
                statements.append(Statement(statement, tuple(cited)))
        draws = rng.random((2, len(texts)))
        relevant = [number for number in sorted(selected) if draws[0, number] < self.selecting]
        to_cite = [number for number in relevant if draws[1, number] < self.selecting]
        return CitedAnswer(tuple(statements), relevant=tuple(relevant), to_cite=tuple(to_cite))
