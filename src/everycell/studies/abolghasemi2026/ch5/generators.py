"""One interface for what answers in chapter 5: language models and synthetic controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import pandas as pd

from everycell.language_models.generation import Answer
from everycell.studies.abolghasemi2026.ch5.answers import answers_frame
from everycell.studies.abolghasemi2026.ch5.arms import Presentation


class Benchmark(NamedTuple):
    """Questions, and what their prompts can show."""

    name: str
    #: Author ("Human", "LLM") to the text of each document, by its id.
    texts: Mapping[str, Mapping[str, str]]
    #: Text of each question, by its id.
    questions: Mapping[str, str] = MappingProxyType({})
    #: Right answers of each question, where they are known.
    right: Mapping[str, Sequence[str]] = MappingProxyType({})


class Generator(Protocol):
    """What answers questions with citations."""

    @property
    def name(self) -> str:
        """Its name in the tables."""

    def answer_all(
        self, presentations: Sequence[Presentation], benchmark: Benchmark
    ) -> list[Answer]:
        """Answer each question as its arm shows it, in this order."""


def collect_answers(
    generator: Generator, presentations: Sequence[Presentation], benchmark: Benchmark
) -> pd.DataFrame:
    """The frame of answers of a generator (`everycell.studies.abolghasemi2026.ch5.answers`)."""
    return answers_frame(
        presentations,
        generator.answer_all(presentations, benchmark),
        gold_answers=benchmark.right,
        dataset=benchmark.name,
        generator=generator.name,
    )
