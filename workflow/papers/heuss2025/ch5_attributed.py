"""Attributors with a known mechanism, on forged documents, for chapter 5 of heuss2025.

All know the gold answer to each question. The two matchers return it regardless of the documents,
as if from memory, and then search for documents to cite. `OracleReader` returns it only if the
documents include an unchanged relevant one, and cites that. So all citations of the matchers are
unfaithful, and none of the reader's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.jobs.job import Job
from everycell.learning.models import load_model, use_one_thread
from everycell.learning.text_vectors import dense_vectors
from everycell.rag.answers import normalise_as_squad
from everycell.rag.interventions import (
    Answerer,
    CitedAnswer,
    Statement,
    instances,
    outcomes,
    try_instance,
)
from everycell.rag.prompts import named_draws
from papers.heuss2025.ch5_questions import RetrievedQuestion, selected_questions


def attributed(job: Job) -> None:
    """Outcomes of forged documents for attributors with a known mechanism."""
    use_one_thread()
    params = job.params
    questions = selected_questions(job, params.questions)
    job.log.write(f"{len(questions)} questions with a relevant document among {params.depth}.\n")
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")

    @cache
    def vector(text):
        """Embedding of a text, encoded alone so that it does not depend on a batch."""
        return dense_vectors(encoder, tokenizer, [text], params.length)[0]

    def vectors(texts):
        return np.stack([vector(text) for text in texts]).astype(float)

    answers_by_question = {question.text: question.answer for question in questions}
    attributors = {
        "matches words": WordMatcher(answers_by_question),
        "nearest vector": VectorMatcher(answers_by_question, vectors, cited=1),
        "two nearest vectors": VectorMatcher(answers_by_question, vectors, cited=2),
        "reads": OracleReader(
            answers_by_question, {question.text: question.relevant for question in questions}
        ),
    }
    frames = []
    for name, attributor in attributors.items():
        table = outcomes(run_trials(questions, attributor.answer, seed=params.seed))
        table.insert(0, "answerer", name)
        frames.append(table)
    job.write_frame(pd.concat(frames, ignore_index=True), "outcomes")


def run_trials(
    questions: list[RetrievedQuestion], ask: Answerer, *, seed: int
) -> list[dict[str, object]]:
    """Ask all questions, forge documents, and ask again."""
    rows = []
    for index, question in enumerate(questions):
        first = ask(question.text, question.documents)
        other_document = questions[(index + 1) % len(questions)].documents[0]
        rng = named_draws(f"{seed}\t{question.text}\tforged")
        for instance in instances(question.text, question.documents, first, other_document, rng):
            rows.append(try_instance(instance, ask, seed=seed))
    return rows


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
