"""Experiment on post-rationalised citations, with readers of known behaviour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.rag.interventions import CitedAnswer, instances, share, try_instance
from everycell.rag.planted import PlantedQuestion, PlantedReader, planted_question
from everycell.rag.prompts import named_draws

#: Rows of Table 5.2.
CITING = (
    "Cited all selected documents",
    "Cited less than all selected documents",
    "Cited not selected documents",
    "Cited nothing",
)


class Experiment(NamedTuple):
    """First answers of a reader, and the outcome of each forged document."""

    answers: list[CitedAnswer]
    #: Rows of `try_instance` and `remembered`: whether the statement is from memory.
    trials: list[dict[str, object]]


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


def selection_counts(answers: Sequence[CitedAnswer]) -> pd.DataFrame:
    """Answers by whether they cite the documents selected beforehand (Table 5.2)."""
    steps = {
        "Pred. Rel.": [frozenset(answer.relevant) for answer in answers],
        "Pred. Cited": [frozenset(answer.to_cite) for answer in answers],
    }
    by_step = {
        step: Counter(
            _classify_citations(answer.cited, documents)
            for answer, documents in zip(answers, selected, strict=True)
        )
        for step, selected in steps.items()
    }
    rows = [
        (row, step, "count_answers", counts[row])
        for row in CITING
        for step, counts in by_step.items()
    ]
    return pd.DataFrame(rows, columns=["row", "selection_step", "metric", "value"])


def _classify_citations(cited: frozenset[int], selected: frozenset[int]) -> str:
    if not cited:
        return CITING[3]
    if cited - selected:
        return CITING[2]
    return CITING[0] if cited == selected else CITING[1]


def answer_sizes(
    answers: Sequence[CitedAnswer], sentences: Sequence[int] | None = None
) -> pd.DataFrame:
    """Distributions of sizes of answers and statements (Figures 5.3 and 5.4)."""
    cited = [
        statement for answer in answers for statement in answer.statements if statement.documents
    ]
    values = {
        "sentences": list(sentences or ()),
        "statements": [len(answer.statements) for answer in answers],
        "citations": [sum(len(part.documents) for part in answer.statements) for answer in answers],
        "words": [len(statement.text.split()) for statement in cited],
        "documents": [len(answer.cited) for answer in answers],
        "places": [position + 1 for answer in answers for position in sorted(answer.cited)],
    }
    rows = []
    for panel, numbers in values.items():
        counts = Counter(numbers)
        for x in range(min(counts), max(counts) + 1) if counts else ():
            rows.append((panel, x, 100 * counts[x] / len(numbers)))
    return pd.DataFrame(rows, columns=["panel", "x", "value"])


def case_counts(outcomes: pd.DataFrame, of: str, metrics: Mapping[str, str]) -> pd.DataFrame:
    """Cases by kind of forged document, with their total."""
    selected = outcomes[outcomes["metric"].isin(metrics)]
    rows = []
    for (answerer, kind), part in selected.groupby(["answerer", "kind"], sort=False):
        rows.append((answerer, kind, of, int(part["of"].max())))
        counts = part.set_index("metric")["count"]
        rows += [
            (answerer, kind, name, int(counts[m])) for m, name in metrics.items() if m in counts
        ]
    return pd.DataFrame(rows, columns=["answerer", "kind", "metric", "value"])


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
