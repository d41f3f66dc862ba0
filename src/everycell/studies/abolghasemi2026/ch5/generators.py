"""What answers in chapter 5: one interface for language models and for controls.

A generator is told what is asked (`Presentation`: a question, its setting, its arm) and of which
benchmark, and gives one answer each. Language models are named in config.yaml
(`everycell.studies.abolghasemi2026.ch5.prompted`); controls, whose preference is known, are listed
in `everycell.studies.abolghasemi2026.ch5.controls.CONTROLS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import pandas as pd

from everycell.language_models.generation import Answer
from everycell.studies.abolghasemi2026.ch5.answers import answers_frame
from everycell.studies.abolghasemi2026.ch5.arms import Presentation


class Benchmark(NamedTuple):
    """Questions, and what their prompts can show.

    Attributes
    ----------
    name : str
        Its name in the tables.
    texts : mapping
        Author ("Human", "LLM") to the text of each document, by its id.
    questions : mapping
        Text of each question, by its id.
    right : mapping
        Right answers of each question; of one without any it is not known whether it is answered.
    """

    name: str
    texts: Mapping[str, Mapping[str, str]]
    questions: Mapping[str, str] = MappingProxyType({})
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
    """The frame of answers of a generator (`everycell.studies.abolghasemi2026.ch5.answers`).

    Examples
    --------
    >>> from everycell.rag.questions import Question
    >>> from everycell.studies.abolghasemi2026.ch5.arms import all_requests, study_settings
    >>> from everycell.studies.abolghasemi2026.ch5.controls import PlantedControl
    >>> asked = all_requests(study_settings(2, [])[:1],
    ...                          lambda setting, arm: [Question("q1", ("a", "b"), gold=2)])
    >>> toy = Benchmark("toy", {"Human": {"a": "Leiden is old.", "b": "Delft is, too."}})
    >>> found = collect_answers(PlantedControl(0, skill=99), asked, toy)
    >>> found[["cited", "gold", "attribution recall"]].drop_duplicates().values.tolist()
    [[1.0, 2.0, 1.0]]
    """
    return answers_frame(
        presentations,
        generator.answer_all(presentations, benchmark),
        gold_answers=benchmark.right,
        dataset=benchmark.name,
        generator=generator.name,
    )
