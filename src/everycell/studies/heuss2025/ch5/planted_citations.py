"""The experiment on citing after the fact, with answerers whose behaviour is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.rag.draws import named_draws
from everycell.rag.interventions import CitedAnswer, instances, share, try_instance
from everycell.rag.planted_readers import PlantedQuestion, PlantedReader, planted_question

#: Rows of Table 5.2.
CITING = (
    "Cited all selected documents",
    "Cited less than all selected documents",
    "Cited not selected documents",
    "Cited nothing",
)


class Tried(NamedTuple):
    """First answers of an answerer, and what came of each forged document."""

    answers: list[CitedAnswer]
    #: From `try_instance`, with `remembered`: whether the statement is from memory.
    trials: list[dict[str, object]]


def planted_questions(count: int, *, seed: int) -> list[PlantedQuestion]:
    """Questions by their numbers."""
    return [planted_question(f"q{number}", seed=seed) for number in range(1, count + 1)]


def experiment(questions: Sequence[PlantedQuestion], reader: PlantedReader, *, seed: int) -> Tried:
    """Ask all questions, forge documents, and ask again."""
    by_name = {question.name: question for question in questions}
    answers, trials = [], []

    def ask(name: str, documents: Sequence[str]) -> CitedAnswer:
        return reader.answer(by_name[name], documents)

    for index, question in enumerate(questions):
        first = ask(question.name, question.documents)
        answers.append(first)
        spare = questions[(index + 1) % len(questions)].documents[0]
        rng = named_draws(f"{seed}\t{question.name}\tforged")
        minds = dict(zip(dict(question.claims), reader.minds(question), strict=True))
        for instance in instances(question.name, question.documents, first, spare, rng):
            row = try_instance(instance, ask, seed=seed)
            trials.append(row | {"remembered": minds[instance.statement.text] == "memory"})
    return Tried(answers, trials)


def selection_counts(answers: Sequence[CitedAnswer]) -> pd.DataFrame:
    """Answers by whether they cite what was selected first (Table 5.2)."""
    steps = {
        "Pred. Rel.": [frozenset(answer.relevant) for answer in answers],
        "Pred. Cited": [frozenset(answer.to_cite) for answer in answers],
    }
    by_step = {
        step: Counter(
            _citing(answer.cited, documents)
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


def _citing(cited: frozenset[int], selected: frozenset[int]) -> str:
    if not cited:
        return CITING[3]
    if cited - selected:
        return CITING[2]
    return CITING[0] if cited == selected else CITING[1]


def answer_sizes(
    answers: Sequence[CitedAnswer], sentences: Sequence[int] | None = None
) -> pd.DataFrame:
    """Distributions over answers, statements and citations (Figures 5.3 and 5.4)."""
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
    """Cases of each kind of forged document, beside how many there were.

    Examples
    --------
    >>> row = {"answerer": "a", "kind": "random", "metric": "recovered", "count": 3, "of": 4}
    >>> case_counts(pd.DataFrame([row]), "instances", {"recovered": "again"})["value"].tolist()
    [4, 3]
    """
    own = outcomes[outcomes["metric"].isin(metrics)]
    rows = []
    for (answerer, kind), part in own.groupby(["answerer", "kind"], sort=False):
        rows.append((answerer, kind, of, int(part["of"].max())))
        counts = part.set_index("metric")["count"]
        rows += [
            (answerer, kind, name, int(counts[m])) for m, name in metrics.items() if m in counts
        ]
    return pd.DataFrame(rows, columns=["answerer", "kind", "metric", "value"])


def estimates(tried: Tried) -> pd.DataFrame:
    """How often statements came from memory, as known and as two ways find it."""
    own = pd.DataFrame([row for row in tried.trials if row["kind"] == "random"])
    back = own[own["recovered"].astype(bool)]
    planted = 100 * float(own["remembered"].mean())
    rows = [
        ("planted", planted, planted, planted),
        ("cites the forged document", *share(int(back["cites_forged"].sum()), len(back))),
        ("stays without its words", *_ratio(own)),
    ]
    return pd.DataFrame(rows, columns=["estimate", "value", "low", "high"])


def _ratio(own: pd.DataFrame) -> tuple[float, float, float]:
    removed = own["statement removed"].to_numpy(dtype=float)
    added = own["recovered"].to_numpy(dtype=float)
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(own), size=(2000, len(own)))
    ratios = 100 * removed[drawn].mean(axis=1) / added[drawn].mean(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return 100 * removed.mean() / added.mean(), float(low), float(high)


def grid(
    questions: Sequence[PlantedQuestion],
    memories: Sequence[float],
    opens: Sequence[float],
    settings: Mapping[str, float],
    *,
    seed: int,
) -> pd.DataFrame:
    """Planted and estimated shares for readers of all kinds."""
    parts = []
    for openness in opens:
        for memory in memories:
            reader = PlantedReader(memory=memory, open=openness, seed=seed, **settings)
            estimated = estimates(experiment(questions, reader, seed=seed))
            estimated.insert(0, "memory", f"{memory:g}")
            estimated.insert(0, "open", f"{openness:g}")
            parts.append(estimated)
    return pd.concat(parts, ignore_index=True)
