"""Controls of chapter 5: readers with known behaviour, which answer numbered questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from everycell.rag.interventions import CitedAnswer, instances, outcomes, share, try_instance
from everycell.rag.planted import PlantedQuestion, PlantedReader, planted_question
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
