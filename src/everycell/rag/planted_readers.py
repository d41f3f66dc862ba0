"""Answerers whose citations are known to be faithful or not, and questions for them.

A claim is a short statement with the words around it. Documents on a question hold some of its
claims; a document of another question holds none. For each statement chance decides once whether
the answerer *reads* it or has it from *memory*:

- what is read comes from documents with the whole claim, and cites them. An *open* reader also
  takes the bare statement for the claim, wherever it stands;
- remembered statements do not depend on the documents, and cite documents that have their words,
  each with a probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everycell.rag.answers import normalise_answer
from everycell.rag.draws import named_draws
from everycell.rag.interventions import CitedAnswer, Statement

#: Per question: documents, claims, words of a statement (at most), further words of a claim.
DOCUMENTS, CLAIMS, SHORT, AROUND = 5, 4, 6, 5
#: Probability that a document holds a claim.
HELD = 0.4
#: Words of each document that belong to no claim.
FILLING = 20


@dataclass(frozen=True)
class PlantedQuestion:
    """A question with its documents."""

    name: str
    claims: tuple[tuple[str, str], ...]
    documents: tuple[str, ...]


def planted_question(name: str, *, seed: int) -> PlantedQuestion:
    """Make up a question, with each claim in one document or more."""
    rng = named_draws(f"{seed}\t{name}\tquestion")

    def words(count: int) -> str:
        # Words of one question are no other's.
        return " ".join(f"{name}w{number}" for number in rng.integers(100_000, 999_999, count))

    claims = []
    for _ in range(CLAIMS):
        statement = words(int(rng.integers(1, SHORT + 1)))
        claims.append((statement, f"{words(AROUND)} {statement}"))
    holds = rng.random((DOCUMENTS, CLAIMS)) < HELD
    holds[rng.integers(DOCUMENTS, size=CLAIMS), np.arange(CLAIMS)] = True
    documents = tuple(
        f"{words(FILLING)}. "
        + " ".join(f"{claim}." for (_, claim), is_held in zip(claims, row, strict=True) if is_held)
        for row in holds
    )
    return PlantedQuestion(name, tuple(claims), documents)


@dataclass(frozen=True)
class PlantedReader:
    """Answers planted questions."""

    memory: float
    open: float = 0.0
    matching: float = 0.6
    steady: float = 0.8
    selecting: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a value that is not a probability."""
        for name in ("memory", "open", "matching", "steady", "selecting"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give a number from 0 to 1.")

    def minds(self, question: PlantedQuestion) -> list[str]:
        """Where each claim's statement comes from: "memory", "open" or "closed" reading."""
        draws = named_draws(f"{self.seed}\t{question.name}\tmind").random((len(question.claims), 2))
        return [
            "memory" if remembered < self.memory else "open" if opened < self.open else "closed"
            for remembered, opened in draws
        ]

    def answer(self, question: PlantedQuestion, documents: Sequence[str]) -> CitedAnswer:
        """Answer from some documents."""
        texts = [f" {normalise_answer(text)} " for text in documents]
        context = "\t".join(documents)
        chance = named_draws(f"{self.seed}\t{question.name}\t{context}")
        statements, selected = [], set()
        for (statement, claim), mind in zip(question.claims, self.minds(question), strict=True):
            speaks = chance.random() < self.steady
            draws = chance.random(len(texts))
            bare = [i for i, text in enumerate(texts) if f" {normalise_answer(statement)} " in text]
            holders = [i for i, text in enumerate(texts) if f" {normalise_answer(claim)} " in text]
            selected |= set(holders)
            if mind == "memory":
                cited = [i for i in bare if draws[i] < self.matching]
            else:
                cited = bare if mind == "open" else holders
                speaks = speaks and bool(cited)
            if speaks:
                statements.append(Statement(statement, tuple(cited)))
        draws = chance.random((2, len(texts)))
        relevant = [number for number in sorted(selected) if draws[0, number] < self.selecting]
        to_cite = [number for number in relevant if draws[1, number] < self.selecting]
        return CitedAnswer(tuple(statements), relevant=tuple(relevant), to_cite=tuple(to_cite))
