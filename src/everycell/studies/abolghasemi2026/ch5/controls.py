"""Synthetic generators with a known preference for a label, as controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everycell.language_models.generation import Answer
from everycell.rag.planted import PlantedGenerator, expected_quality
from everycell.studies.abolghasemi2026.ch5.arms import Presentation
from everycell.studies.abolghasemi2026.ch5.generators import Benchmark


@dataclass(frozen=True)
class PlantedControl(PlantedGenerator):
    """The generator of `everycell.rag.planted`, with the interface of chapter 5."""

    @property
    def name(self) -> str:
        """Name in the tables."""
        return f"planted {self.strength:g}"

    @property
    def preference(self) -> float:
        """Log-odds of preferring [Human] to [LLM]: the position in a figure."""
        return self.strength

    def answer_all(
        self, presentations: Sequence[Presentation], benchmark: Benchmark
    ) -> list[Answer]:
        """Cite documents at random, and quote the first sentence of each cited document.

        The generator depends only on the kind of author in a label, so extended and plain labels
        are equivalent. It always reads the texts by people.
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
        """Expected table values."""
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
        """Expected bias (CAB)."""
        human, machine = (
            expected_quality(self, k, relevant=relevant, nonrelevant=other)
            for relevant, other in (("Human", "LLM"), ("LLM", "Human"))
        )
        return {
            "CAB delta precision": 100 * (human.precision - machine.precision),
            "CAB delta recall": 100 * (human.recall - machine.recall),
        }


def make_controls(
    preferences: Sequence[float], odds: Mapping[str, float], seed: int
) -> dict[str, PlantedControl]:
    """Controls with the given preferences, by their names in the tables."""
    controls = [PlantedControl(preference, seed=seed, **odds) for preference in preferences]
    return {control.name: control for control in controls}
