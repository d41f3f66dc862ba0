"""Questions drawn for each arm of chapter 5 of abolghasemi2026, and requests for answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.generation import Request
from everycell.language_models.settings import Decoding
from everycell.rag.answers import answers_in
from everycell.rag.prompts import (
    LABELS,
    MACHINE,
    GoldPosition,
    PromptTemplate,
    Question,
    author_texts,
    cited_answer_prompt,
    named_draws,
    pick_questions,
)
from everycell.trec.runs import read_run
from papers.abolghasemi2026.ch5_arms import Arm, Presentation, Setting


class Benchmark(NamedTuple):
    """Questions, their correct answers, and the documents that prompts can contain."""

    name: str
    #: Author ("Human", "LLM") -> text of each document, by id.
    texts: Mapping[str, Mapping[str, str]]
    #: Text of each question, by id.
    questions: Mapping[str, str] = MappingProxyType({})
    #: Correct answers to each question, where known.
    right: Mapping[str, Sequence[str]] = MappingProxyType({})


def read_runs(
    retrievers: Iterable[str], files: Iterable[str], queries: Iterable[str]
) -> dict[str, pd.DataFrame]:
    """Run of each retriever, without other queries."""
    runs = {name: read_run(file) for name, file in zip(retrievers, files, strict=True)}
    return {name: run[run["query"].isin(queries)] for name, run in runs.items()}


def draw_questions(
    questions: Sequence[Question],
    size: int,
    *,
    authors: tuple[str, str],
    texts: Mapping[str, Mapping[str, str]],
    answers: Mapping[str, Sequence[str]] = MappingProxyType({}),
    seed: int,
) -> list[Question]:
    """Random questions whose documents all have a text by the given authors.

    A passage whose paraphrase lost the answer has no text by [LLM], so a question that needs
    this text is skipped. A passage may have been paraphrased for a question to which it is not
    relevant, so the relevant document is also checked:
    its text must contain every answer of the human-written one.
    """
    relevant, other = authors

    def keeps_answers(question: Question) -> bool:
        document = question.documents[question.gold - 1]
        gold = answers.get(question.id, ())
        original_answers = answers_in(texts["Human"][document], gold) if gold else []
        return answers_in(texts[relevant][document], original_answers) == original_answers

    selection: list[Question] = []
    for question in sorted(
        questions, key=lambda candidate: named_draws(f"{seed}\t{candidate.id}").random()
    ):
        numbered = enumerate(question.documents, start=1)
        has_texts = all(
            document in texts[relevant if number == question.gold else other]
            for number, document in numbered
        )
        if len(selection) < size and has_texts and keeps_answers(question):
            selection.append(question)
    return selection


@dataclass(frozen=True)
class DrawnQuestions:
    """Questions of each setting and arm, in one random order."""

    runs: Mapping[str, pd.DataFrame]
    relevant: pd.DataFrame
    benchmark: Benchmark
    rewritten: frozenset[str] | None = None
    same_questions: bool = False
    seed: int = 0
    _picked: dict[tuple[str, int, GoldPosition], list[Question]] = field(
        default_factory=dict, repr=False
    )

    def of_arm(self, setting: Setting, arm: Arm, size: int) -> list[Question]:
        """At most `size` questions of a setting and an arm (`draw_questions`)."""
        questions = self._pick(setting.retriever, setting.k, setting.position)
        authors = (arm.relevant_author, arm.nonrelevant_author)
        if self.same_questions and any("LLM" in other[:2] for other in setting.arms):
            # If all passages have a paraphrase, the question can be presented in every arm.
            authors = ("LLM", "LLM")
        if self.rewritten is not None and authors[1] == "LLM":
            questions = [question for question in questions if question.id in self.rewritten]
        return draw_questions(
            questions,
            size,
            authors=authors,
            texts=self.benchmark.texts,
            answers=self.benchmark.right,
            seed=self.seed,
        )

    @classmethod
    def of_job(cls, job: Job, *, longest: int | None = None) -> DrawnQuestions:
        """Questions, runs and texts by both authors, from the inputs of a job.

        Passages by people with more than `longest` words are left out.
        """
        params, files = job.params, job.input
        questions = pd.read_parquet(files.questions).set_index("query")
        people = pd.read_parquet(files.passages).set_index("document_id")["text"]
        if longest is not None:
            people = people[people.str.split().str.len() <= longest]
        paraphrases = pd.read_parquet(files.paraphrases).query("kept")
        paraphrased = paraphrases.set_index("document_id")["text"]
        benchmark = Benchmark(
            params.dataset,
            texts={"Human": people.to_dict(), "LLM": paraphrased.to_dict()},
            questions=questions["text"].to_dict(),
            right=questions["answers"].map(tuple).to_dict(),
        )
        return cls(
            read_runs(params.retrievers, files.runs, questions.index),
            pd.read_parquet(files.relevant),
            benchmark,
            rewritten=frozenset(pd.read_parquet(files.asked)["query"]),
            same_questions=params.sizes["same_questions"],
            seed=params.seed,
        )

    def _pick(self, retriever: str, k: int, position: GoldPosition) -> list[Question]:
        key = (retriever, k, position)
        if key not in self._picked:
            self._picked[key], _ = pick_questions(
                self.runs[retriever], self.relevant, k=k, gold_position=position, seed=self.seed
            )
        return self._picked[key]


def make_request(
    presentation: Presentation,
    *,
    question: str,
    text: Callable[[str, str], str],
    templates: tuple[PromptTemplate, PromptTemplate],
    decoding: Decoding,
    names: Sequence[str] = (),
    seed: int = 0,
    words: Mapping[str, str] = LABELS,
    machine: str = MACHINE,
) -> Request:
    """Request to a language model for one presentation of a question."""
    setting, arm, instance = presentation
    if setting.labels == "extended" and not names:
        raise ValueError(
            f"The setting {setting.name!r} has extended labels; pass people's names in `names`."
        )
    numbered = enumerate(instance.documents, start=1)
    texts = [
        text(document, arm.relevant_author if number == instance.gold else arm.nonrelevant_author)
        for number, document in numbered
    ]
    authors = author_texts(
        arm.labels(instance),
        names=names if setting.labels == "extended" else (),
        key=f"{seed}\t{instance.id}",
        words=words,
        machine=machine,
    )
    template = templates[any(authors)]
    return Request(
        prompt=cited_answer_prompt(template, question, texts, authors), decoding=decoding
    )
