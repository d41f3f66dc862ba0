"""Answerers with known ways of citing real passages.

All know the gold answer to each question. The two matchers return it regardless of the documents,
as if from memory, and then search for documents to cite: by words (`WordMatcher`), or by the
similarity of embeddings (`VectorMatcher`). `OracleReader` returns it only if the documents include
an unchanged relevant one, and cites that. They validate the experiment of
`everycell.rag.interventions` on real text: all citations of the matchers are unfaithful, and none
of the reader's. `LikelyChoice` cites the document that a language model chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from everycell.base.arrays import FloatArray
from everycell.language_models import templates
from everycell.language_models.generation import Answer, Request
from everycell.rag.answers import normalise_as_squad
from everycell.rag.interventions import CitedAnswer, Statement
from everycell.rag.prompts import document_lines

#: Our prompt for a choice among documents.
CHOICE_TEMPLATE = Path(__file__).parent / "templates" / "chosen_document.txt"
CHOICE_SLOTS: templates.Slots = {
    "documents": ("the documents, one per line", True),
    "question": ("the question", True),
    "answer": ("the gold answer", True),
}
#: Function from n texts to an array of shape (n, d), with rows of unit norm.
Encode = Callable[[Sequence[str]], FloatArray]


@dataclass(frozen=True)
class WordMatcher:
    """Returns the gold answer, and cites all documents that contain its words in sequence."""

    answers: Mapping[str, str]
    shared: float = 0.5

    def answer(self, question: str, documents: Sequence[str]) -> CitedAnswer:
        """Answer a question regardless of the documents."""
        texts = [f" {normalise_as_squad(text)} " for text in documents]
        gold = f" {normalise_as_squad(self.answers[question])} "
        question_words = set(normalise_as_squad(question).split())
        cited = tuple(
            position for position, text in enumerate(texts) if gold.strip() and gold in text
        )
        relevant = tuple(
            position
            for position, text in enumerate(texts)
            if len(question_words & set(text.split())) >= self.shared * len(question_words)
        )
        return CitedAnswer((Statement(self.answers[question], cited),), relevant=relevant)


@dataclass(frozen=True)
class VectorMatcher:
    """Returns the gold answer, and cites the documents most similar to question plus answer."""

    answers: Mapping[str, str]
    encode: Encode
    cited: int = 1
    relevant: int = 3

    def answer(self, question: str, documents: Sequence[str]) -> CitedAnswer:
        """Answer a question regardless of the documents."""
        vectors = self.encode([f"{question} {self.answers[question]}", *documents])
        order = np.argsort(-np.round(vectors[1:] @ vectors[0], 6), kind="stable").tolist()
        statement = Statement(self.answers[question], tuple(sorted(order[: self.cited])))
        return CitedAnswer((statement,), relevant=tuple(sorted(order[: self.relevant])))


@dataclass(frozen=True)
class OracleReader:
    """Returns the gold answer only with an unchanged relevant document, and cites that."""

    answers: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]

    def answer(self, question: str, documents: Sequence[str]) -> CitedAnswer:
        """Answer a question from its relevant documents."""
        positions = tuple(
            position for position, text in enumerate(documents) if text in self.relevant[question]
        )
        statements = (Statement(self.answers[question], positions),) if positions else ()
        return CitedAnswer(statements, relevant=positions, to_cite=positions)


@dataclass(frozen=True)
class LikelyChoice:
    """Returns the gold answer, and cites the document whose number a model finds most likely."""

    answers: Mapping[str, str]
    ask_all: Callable[[Sequence[Request]], Sequence[Answer]]
    relevant: int = 2

    def answer_all(self, contexts: Sequence[tuple[str, tuple[str, ...]]]) -> list[CitedAnswer]:
        """Answer questions with their documents; a single document needs no choice."""
        requests_by_question = [
            choice_requests(question, self.answers[question], documents)
            if len(documents) > 1
            else []
            for question, documents in contexts
        ]
        scores = iter(
            self.ask_all([request for requests in requests_by_question for request in requests])
        )
        return [
            self._choose(question, [next(scores).logprob for _ in requests] or [0.0])
            for (question, _), requests in zip(contexts, requests_by_question, strict=True)
        ]

    def _choose(self, question: str, scores: list[float]) -> CitedAnswer:
        order = np.argsort(-np.array(scores), kind="stable").tolist()
        statement = Statement(self.answers[question], (order[0],))
        return CitedAnswer((statement,), relevant=tuple(sorted(order[: self.relevant])))


def choice_requests(question: str, answer: str, documents: Sequence[str]) -> list[Request]:
    """Requests that score the number of each document, in the order of the documents."""
    template = templates.read_template(CHOICE_TEMPLATE, CHOICE_SLOTS, last="question")
    contents = [text if text.strip() else "(empty)" for text in documents]
    prompt = templates.fill(
        template,
        documents=document_lines(contents, [""] * len(contents)),
        question=" ".join(question.split()),
        answer=" ".join(answer.split()),
    )
    return [
        Request(prompt=prompt, continuation=str(number)) for number in range(1, len(contents) + 1)
    ]
