"""Readers with known behaviour, controls of chapter 5 of heuss2025."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.jobs.job import Job
from everycell.rag.answers import normalise_answer
from everycell.rag.interventions import (
    CitedAnswer,
    Statement,
    instances,
    outcomes,
    share,
    try_instance,
)
from everycell.rag.prompts import named_draws
from papers.heuss2025.ch5_answers import answer_sizes, selection_counts


class Experiment(NamedTuple):
    """First answers of a reader, and the outcome of each forged document."""

    answers: list[CitedAnswer]
    #: Rows of `try_instance` and `remembered`: whether the statement is from memory.
    trials: list[dict[str, object]]


def planted(job: Job) -> None:
    """Answers and outcomes of forged documents for answerers with known behaviour."""
    params = job.params
    questions = planted_questions(params.questions, seed=params.seed)
    frames = {"selection": [], "sizes": [], "outcomes": []}
    for name, memory in params.readers.items():
        reader = PlantedReader(memory=memory, seed=params.seed, **params.behaviour)
        results = experiment(questions, reader, seed=params.seed)
        for part, table in (
            ("selection", selection_counts(results.answers)),
            ("sizes", answer_sizes(results.answers)),
            ("outcomes", outcomes(results.trials)),
        ):
            table.insert(0, "answerer", name)
            frames[part].append(table)
    for part, tables in frames.items():
        job.write_frame(pd.concat(tables, ignore_index=True), part)
    estimated = estimate_grid(
        questions, params.memories, params.opens, params.behaviour, seed=params.seed
    )
    job.write_frame(estimated, "estimates")


def planted_questions(count: int, *, seed: int) -> list[PlantedQuestion]:
    """Draw numbered questions."""
    return [planted_question(f"q{number}", seed=seed) for number in range(1, count + 1)]


def experiment(
    questions: Sequence[PlantedQuestion], reader: PlantedReader, *, seed: int
) -> Experiment:
    """Ask all questions, forge documents, and ask again."""
    by_name = {question.name: question for question in questions}
    answers, trials = [], []

    def ask(name: str, documents: Sequence[str]) -> CitedAnswer:
        return reader.answer(by_name[name], documents)

    for index, question in enumerate(questions):
        first = ask(question.name, question.documents)
        answers.append(first)
        other_document = questions[(index + 1) % len(questions)].documents[0]
        rng = named_draws(f"{seed}\t{question.name}\tforged")
        sources = dict(zip(dict(question.claims), reader.sources(question), strict=True))
        for instance in instances(question.name, question.documents, first, other_document, rng):
            row = try_instance(instance, ask, seed=seed)
            trials.append(row | {"remembered": sources[instance.statement.text] == "memory"})
    return Experiment(answers, trials)


def estimates(results: Experiment) -> pd.DataFrame:
    """Share of statements from memory: planted, and estimated in two ways."""
    random = pd.DataFrame([row for row in results.trials if row["kind"] == "random"])
    recovered = random[random["recovered"].astype(bool)]
    planted = 100 * float(random["remembered"].mean())
    rows = [
        ("planted", planted, planted, planted),
        ("cites the forged document", *share(int(recovered["cites_forged"].sum()), len(recovered))),
        ("stays without its words", *_ratio(random)),
    ]
    return pd.DataFrame(rows, columns=["estimate", "value", "low", "high"])


def _ratio(trials: pd.DataFrame) -> tuple[float, float, float]:
    """Statements repeated after their words were removed, in percent of the recovered ones."""
    removed = trials["statement removed"].to_numpy(dtype=float)
    recovered = trials["recovered"].to_numpy(dtype=float)
    rng = np.random.default_rng(0)
    draws = rng.integers(len(trials), size=(2000, len(trials)))
    ratios = 100 * removed[draws].mean(axis=1) / recovered[draws].mean(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return 100 * removed.mean() / recovered.mean(), float(low), float(high)


def estimate_grid(
    questions: Sequence[PlantedQuestion],
    memories: Sequence[float],
    opens: Sequence[float],
    settings: Mapping[str, float],
    *,
    seed: int,
) -> pd.DataFrame:
    """Planted and estimated shares for all combinations of memory and openness."""
    parts = []
    for openness in opens:
        for memory in memories:
            reader = PlantedReader(memory=memory, open=openness, seed=seed, **settings)
            estimated = estimates(experiment(questions, reader, seed=seed))
            estimated.insert(0, "memory", f"{memory:g}")
            estimated.insert(0, "open", f"{openness:g}")
            parts.append(estimated)
    return pd.concat(parts, ignore_index=True)


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
