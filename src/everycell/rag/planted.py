r"""Simulated answerers with known behaviour: controls for bias and for unfaithful citations.

`PlantedGenerator` has a known preference for a label, a control for attribution bias. It
cites each of its k documents independently, with probability

.. math:: \sigma(\mathrm{base} + \mathrm{skill} \cdot r + \mathrm{strength} \cdot h / 2),

where r is 1 for a relevant document and 0 for others, h is 1 for a document labelled as
human-written, -1 for machine-written and 0 without a label, and sigma is the logistic function.

The draws depend only on the seed, the query and the position of a document, so that labels with the
same effect give the same answer. At strength 0, CAS and CAB are therefore exactly 0. As the
strength grows, recall under [Human] never falls and recall under [LLM] never rises, so the measured
CAB of recall never falls. Its expectation is known (`expected_quality`).

`PlantedReader` has citations of known faithfulness. A claim is a short statement with the words
around it. Documents of a question (`planted_question`) contain some of its claims, and documents of
other questions contain none. Each statement is randomly assigned a source: the answerer *reads* it
or has it from *memory*.

- A statement that is read comes from documents with the complete claim, and cites them. An *open*
  reader also accepts the statement without the words around it.
- A statement from memory does not depend on the documents. It cites each document that contains its
  words with a given probability.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from everycell.base.errors import DataError
from everycell.language_models.generation import Answer, Token
from everycell.metrics.attribution import Quality
from everycell.rag.answers import normalise_answer
from everycell.rag.interventions import CitedAnswer, Statement
from everycell.rag.prompts import named_draws
from everycell.text.sentences import sentence_spans

#: Label of a document -> its effect, in halves of the strength.
EFFECTS = {"Human": 1, "LLM": -1, "": 0}


@dataclass(frozen=True)
class PlantedGenerator:
    """Cites relevant documents, and those of one label, more often than others."""

    strength: float
    skill: float = 3.0
    base: float = -2.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Reject parameters that are not finite numbers."""
        for name in ("strength", "skill", "base"):
            if not math.isfinite(getattr(self, name)):
                raise DataError(column=name, value=getattr(self, name), expected="a finite number")

    def probability(self, label: str, *, relevant: bool) -> float:
        """Probability of citing a document."""
        odds = self.base + self.skill * relevant + self.strength * EFFECTS[label] / 2
        # `exp` overflows for large exponents.
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    def cite(self, query: str, labels: Sequence[str], relevant: Collection[int]) -> tuple[int, ...]:
        """Numbers of the cited documents, from 1, in increasing order."""
        draws = named_draws(f"{self.seed}\t{query}").random(len(labels))
        return tuple(
            number
            for number, (label, draw) in enumerate(zip(labels, draws, strict=True), start=1)
            if draw < self.probability(label, relevant=number in relevant)
        )

    def answer(
        self, query: str, labels: Sequence[str], relevant: Collection[int], texts: Sequence[str]
    ) -> Answer:
        """An answer with the first sentence and the number of each cited document.

        The probability of a number is that of citing the document; all other tokens are certain.
        """
        tokens: list[Token] = []
        for number in self.cite(query, labels, relevant):
            sentence = f"{' ' if tokens else ''}{_first_sentence(texts[number - 1])} ["
            p = self.probability(labels[number - 1], relevant=number in relevant)
            pieces = (sentence, 0.0), (str(number), math.log(p)), ("].", 0.0)
            tokens += [Token(text=text, logprob=logprob) for text, logprob in pieces]
        text = "".join(token.text for token in tokens)
        return Answer(text=text, finish="stop", tokens=tuple(tokens))


@lru_cache(maxsize=4096)
def _first_sentence(text: str) -> str:
    """The first sentence, without its final punctuation."""
    spans = sentence_spans(text)
    return text[slice(*spans[0])].strip().rstrip(".?!") if spans else ""


def expected_quality(
    generator: PlantedGenerator, k: int, *, relevant: str, nonrelevant: str
) -> Quality:
    """Expected precision and recall of a planted generator."""
    p = generator.probability(relevant, relevant=True)
    q = generator.probability(nonrelevant, relevant=False)
    # Numerically stable near q = 0, where its limit is 1.
    share = -math.expm1(k * math.log1p(-q)) / (k * q) if 0 < q < 1 else (1.0 if q == 0 else 1 / k)
    return Quality(p * share, p)


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
                raise DataError(
                    column=name, value=getattr(self, name), expected="a number from 0 to 1"
                )

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
