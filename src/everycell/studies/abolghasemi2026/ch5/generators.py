"""Interface of the generators in chapter 5: language models and synthetic controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import pandas as pd

from everycell.language_models.generation import Answer
from everycell.studies.abolghasemi2026.ch5.answers import answers_frame
from everycell.studies.abolghasemi2026.ch5.arms import Presentation


class Benchmark(NamedTuple):
    """Questions, their correct answers, and the documents that prompts can contain."""

    name: str
    #: Author ("Human", "LLM") -> text of each document, by id.
    texts: Mapping[str, Mapping[str, str]]
    #: Text of each question, by id.
    questions: Mapping[str, str] = MappingProxyType({})
    #: Correct answers to each question, where known.
    right: Mapping[str, Sequence[str]] = MappingProxyType({})


class Generator(Protocol):
    """A generator of answers with citations."""

    @property
    def name(self) -> str:
        """Name in the tables."""

    def answer_all(
        self, presentations: Sequence[Presentation], benchmark: Benchmark
    ) -> list[Answer]:
        """Answer the questions as presented, in the same order."""


def collect_answers(
    generator: Generator, presentations: Sequence[Presentation], benchmark: Benchmark
) -> pd.DataFrame:
    """Frame of a generator's answers (`everycell.studies.abolghasemi2026.ch5.answers`)."""
    return answers_frame(
        presentations,
        generator.answer_all(presentations, benchmark),
        gold_answers=benchmark.right,
        dataset=benchmark.name,
        generator=generator.name,
    )
