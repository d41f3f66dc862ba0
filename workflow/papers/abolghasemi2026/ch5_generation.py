"""Answers with citations by a language model, for chapter 5 of abolghasemi2026."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.job import Job
from everycell.language_models.answering import RecordedModel, model_of_job
from everycell.language_models.generation import Answer, Request
from everycell.language_models.records import Entry, key_of, record_lines
from everycell.language_models.settings import Decoding
from everycell.rag.citations import may_cite
from everycell.rag.prompts import LABELS, MACHINE, PromptTemplate, read_names, read_template
from papers.abolghasemi2026.ch5_answers import READINGS, Reading, answers_frame
from papers.abolghasemi2026.ch5_arms import (
    Presentation,
    few_settings,
    present_questions,
    study_settings,
)
from papers.abolghasemi2026.ch5_quotations import without_quotations
from papers.abolghasemi2026.ch5_requests import Benchmark, DrawnQuestions, make_request


def ask(job: Job) -> None:
    """Answers with citations by a language model to all prompts of chapter 5."""
    params, files = job.params, job.input
    sizes = params.sizes
    few = params.few
    drawn_questions = DrawnQuestions.of_job(job, longest=few and few["longest"])
    benchmark = drawn_questions.benchmark
    first, *further_retrievers = params.retrievers
    if few is not None:
        settings = few_settings(sizes["k"], first=first)
    else:
        settings = study_settings(
            sizes["k"], sizes["depths"], first=first, other_retrievers=further_retrievers
        )
    counts = few or sizes["questions"]
    presentations = present_questions(
        settings, lambda setting, arm: drawn_questions.of_arm(setting, arm, counts[setting.name])
    )
    with model_of_job(job.snakemake, job.log) as model:
        generator = PromptedModel(
            sizes["models"][params.model],
            model,
            templates=(
                read_template(Path(files.template)),
                read_template(Path(files.authors_template)),
            ),
            decoding=Decoding(max_tokens=sizes["max_tokens"], logprobs=params.logprobs),
            names=read_names(Path(files.names)),
            seed=params.seed,
            words={"Human": params.labels["human"], "LLM": params.labels["llm"]},
            machine=params.labels["machine"],
        )
        parse_answers = partial(
            answers_frame,
            presentations,
            generator.answer_all(presentations, benchmark),
            gold_answers=benchmark.right,
            dataset=benchmark.name,
            generator=generator.name,
        )
        entries = entries_to_pass_on(model.used, generator, presentations, benchmark)
        write_atomically(Path(job.output.record), record_lines(entries))
    job.write_frame(parse_answers(reading=Reading(**params.reading)), "answers")
    readings = [
        parse_answers(reading=reading).assign(reading=name) for name, reading in READINGS.items()
    ]
    job.write_frame(pd.concat(readings, ignore_index=True), "readings")


@dataclass(frozen=True)
class PromptedModel:
    """A language model prompted with questions and documents."""

    name: str
    model: RecordedModel
    templates: tuple[PromptTemplate, PromptTemplate]
    decoding: Decoding
    names: Sequence[str] = ()
    seed: int = 0
    words: Mapping[str, str] = field(default_factory=lambda: LABELS)
    machine: str = MACHINE

    def requests(
        self, presentations: Iterable[Presentation], benchmark: Benchmark
    ) -> list[Request]:
        """Requests to the model, in the order of the presentations."""
        return [
            make_request(
                presentation,
                question=benchmark.questions[presentation.question.id],
                text=lambda document, author: benchmark.texts[author][document],
                templates=self.templates,
                decoding=self.decoding,
                names=self.names,
                seed=self.seed,
                words=self.words,
                machine=self.machine,
            )
            for presentation in presentations
        ]

    def answer_all(
        self, presentations: Sequence[Presentation], benchmark: Benchmark
    ) -> list[Answer]:
        """Send all requests and return the answers in the order of the presentations."""
        requests = self.requests(presentations, benchmark)
        # Sorted, because a local model reads a prefix shared by consecutive prompts only once.
        self.model.answer_all(sorted(requests, key=lambda request: request.text))
        return self.model.answer_all(requests)


def entries_to_pass_on(
    used: Iterable[Entry],
    generator: PromptedModel,
    presentations: Sequence[Presentation],
    benchmark: Benchmark,
) -> list[Entry]:
    """Recorded answers in a form that can be released and suffices for a replay.

    They omit text that is copied from passages, and all probabilities except those of citations.
    """
    requests = generator.requests(presentations, benchmark)
    by_key: Mapping[str, Presentation] = {
        key_of(generator.model.identity, request): presentation
        for request, presentation in zip(requests, presentations, strict=True)
    }
    entries = []
    for entry in used:
        question = by_key[entry.key].question
        passages = [
            texts[name]
            for texts in benchmark.texts.values()
            for name in question.documents
            if name in texts
        ]
        answer = without_quotations(entry.answer, passages, benchmark.right[question.id])
        if answer is not None:
            entries.append(entry.model_copy(update={"answer": answer.keep_logprobs(may_cite)}))
    return entries
