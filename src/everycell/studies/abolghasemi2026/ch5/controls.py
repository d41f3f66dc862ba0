"""Generators whose preference for a label is known: what the tables must give back.

A further control is a class with these methods and its entry in `CONTROLS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import pandas as pd

from everycell.language_models.generation import Answer
from everycell.rag.planted import PlantedGenerator, expected_quality
from everycell.rag.questions import Question
from everycell.studies.abolghasemi2026.ch5.arms import (
    Presentation,
    present_questions,
    study_settings,
)
from everycell.studies.abolghasemi2026.ch5.generators import Benchmark, Generator, collect_answers


class Control(Generator, Protocol):
    """A generator of which it is known what its tables come to over endlessly many questions."""

    @property
    def preference(self) -> float:
        """How strongly it prefers [Human] to [LLM], in log-odds: its place in a figure."""

    @classmethod
    def of_preferences(
        cls, preferences: Sequence[float], odds: Mapping[str, float], seed: int
    ) -> list[Self]:
        """Controls of this kind with these preferences, in their order."""

    def expected_measures(self, k: int, *, relevant: str, nonrelevant: str) -> dict[str, float]:
        """Expected values, by metric, with k documents under the labels of either side."""

    def expected_bias(self, k: int) -> dict[str, float]:
        """Expected CAB, by metric, with k documents."""


@dataclass(frozen=True)
class PlantedControl(PlantedGenerator):
    """The generator of `everycell.rag.planted`, as the chapter's tables know it."""

    @property
    def name(self) -> str:
        """Its name in the tables.

        Examples
        --------
        >>> PlantedControl(1.50).name
        'planted 1.5'
        """
        return f"planted {self.strength:g}"

    @property
    def preference(self) -> float:
        """Log-odds by which [Human] beats [LLM]."""
        return self.strength

    @classmethod
    def of_preferences(
        cls, preferences: Sequence[float], odds: Mapping[str, float], seed: int
    ) -> list[Self]:
        """Planted generators with these preferences, in their order.

        Examples
        --------
        >>> found = PlantedControl.of_preferences([0, 2], {"skill": 3.0, "base": -2.0}, seed=1)
        >>> [each.name for each in found]
        ['planted 0', 'planted 2']
        """
        return [cls(preference, seed=seed, **odds) for preference in preferences]

    def answer_all(
        self, presentations: Sequence[Presentation], benchmark: Benchmark
    ) -> list[Answer]:
        """Cite by chance, and say the first sentence of what is cited.

        It knows what kind of author a label names, so extended labels are the plain ones to it;
        and it is not told who wrote a document, so that it sees people's text of each.
        """
        texts = benchmark.texts["Human"]
        return [
            self.answer(
                question.id,
                arm.labels(question),
                [question.gold],
                [texts[document] for document in question.documents],
            )
            for _, arm, question in presentations
        ]

    def expected_measures(self, k: int, *, relevant: str, nonrelevant: str) -> dict[str, float]:
        """What the tables come to over endlessly many questions.

        Examples
        --------
        >>> even = PlantedControl(strength=0, skill=0, base=0)
        >>> list(even.expected_measures(3, relevant="", nonrelevant="").values())[1:]
        [50.0, 1.5, 0.5, 0.5]
        """
        p = self.probability(relevant, relevant=True)
        q = self.probability(nonrelevant, relevant=False)
        expected = expected_quality(self, k, relevant=relevant, nonrelevant=nonrelevant)
        return {
            "attribution precision": 100 * expected.precision,
            "attribution recall": 100 * expected.recall,
            "avg cited total": p + (k - 1) * q,
            "AC relevant": p,
            "AC non-relevant": q,
        }

    def expected_bias(self, k: int) -> dict[str, float]:
        """Bias (CAB) over endlessly many questions.

        Examples
        --------
        >>> PlantedControl(strength=0).expected_bias(10)
        {'CAB delta precision': 0.0, 'CAB delta recall': 0.0}
        """
        human, machine = (
            expected_quality(self, k, relevant=relevant, nonrelevant=other)
            for relevant, other in (("Human", "LLM"), ("LLM", "Human"))
        )
        return {
            "CAB delta precision": 100 * (human.precision - machine.precision),
            "CAB delta recall": 100 * (human.recall - machine.recall),
        }


#: Kinds of controls.
CONTROLS: tuple[type[Control], ...] = (PlantedControl,)


def make_controls(
    preferences: Sequence[float], odds: Mapping[str, float], seed: int
) -> dict[str, Control]:
    """All controls with these preferences, by their names in the tables.

    Examples
    --------
    >>> list(make_controls([0, 4], {"skill": 3.0, "base": -2.0}, seed=1))
    ['planted 0', 'planted 4']
    """
    kinds = (kind.of_preferences(preferences, odds, seed) for kind in CONTROLS)
    return {control.name: control for of_kind in kinds for control in of_kind}


def example_answers() -> pd.DataFrame:
    """Answers to two questions by a control that cites what is said to be by people, and only that.

    To try out what takes a frame of answers.

    Examples
    --------
    >>> example_answers()[["generator", "query_id", "gold"]].drop_duplicates().values.tolist()
    [['planted 99', 'q1', 2], ['planted 99', 'q2', 1]]
    """
    questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    presentations = present_questions(study_settings(2, [])[:1], lambda setting, arm: questions)
    toy = Benchmark("toy", {"Human": {"a": "Yes.", "b": "No."}})
    return collect_answers(PlantedControl(99, skill=0, base=0), presentations, toy)
