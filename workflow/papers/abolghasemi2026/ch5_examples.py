"""Example answers of chapter 5 of abolghasemi2026 (Tables 5.16 and 5.17, Figure 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.language_models.generation import prompt_hash
from everycell.language_models.records import read_record
from everycell.language_models.settings import Decoding
from everycell.rag.answers import is_correct
from everycell.rag.citations import divide_citations, find_citations
from everycell.rag.prompts import read_template
from everycell.render.text_figures import text_figure
from papers.abolghasemi2026.ch5_arms import MODES, Arm, Presentation, study_settings
from papers.abolghasemi2026.ch5_requests import DrawnQuestions, make_request

#: Modes whose citations an example compares: without authors, and with the true ones.
COMPARED = ("Vanilla", "Informed")


class Example(NamedTuple):
    """A question, the texts of its documents, and answers to it, by model or by mode."""

    id: str
    question: str
    right: tuple[str, ...]
    documents: tuple[str, ...]
    #: Author of each document.
    authors: tuple[str, ...]
    #: Position of the relevant document, from 1.
    gold: int
    answers: Mapping[str, str]

    def cited(self, name: str) -> tuple[int, ...]:
        """Documents that an answer cites."""
        return divide_citations(find_citations(self.answers[name]), len(self.documents)).documents

    def table(self) -> pd.DataFrame:
        """Question, relevant document, answers, and other cited documents."""
        rows = [
            ("Query", self.question),
            ("Correct answer", "; ".join(self.right)),
            (f"Relevant document [{self.gold}]", self.documents[self.gold - 1]),
            *self.answers.items(),
        ]
        for number, text in enumerate(self.documents, start=1):
            names = [name for name in self.answers if number in self.cited(name)]
            if names and number != self.gold:
                rows.append((f"Document [{number}], cited by {', '.join(names)}", text))
        return pd.DataFrame(rows, columns=["part", "value"])

    def parts(self) -> pd.DataFrame:
        """Question, documents and answers as parts of a figure."""
        numbered = enumerate(zip(self.documents, self.authors, strict=True), start=1)
        rows = [
            ("Question", self.question),
            *((f"Document [{number}], {author}", text) for number, (text, author) in numbered),
            *((f"Answer, {mode}", self.answers[mode]) for mode in COMPARED),
        ]
        return pd.DataFrame(rows, columns=["part", "text"])


def examples(job: ResultJob) -> None:
    """Tables 5.16 and 5.17 and Figure 5.1 from recorded answers to Natural Questions."""
    records = dict(zip(job.params.models, job.input.records, strict=True))
    informed = Arm("LLM", "Human", "Informed", "Informed")
    by_models = recorded_examples(
        job, [(name, informed, record) for name, record in records.items()]
    )
    first_record = next(iter(records.values()))
    by_modes = recorded_examples(
        job, [(mode, Arm("Human", "LLM", mode, mode), first_record) for mode in MODES]
    )
    compared = first_fitting(by_modes, has_other_citations)
    job.write_table(first_fitting(by_models, is_answered).table())
    job.write_table(compared.table(), artefact="table_5_17")
    parts = compared.parts()
    job.write_figure(parts, text_figure(parts), "figure_5_1")


def first_fitting(candidates: Sequence[Example], fits: Callable[[Example], bool]) -> Example:
    """The first example by id that fits."""
    fitting = [example for example in candidates if fits(example)]
    if not fitting:
        raise ValueError(
            f"none of {len(candidates)} questions with all answers fits the example; "
            "ask more questions."
        )
    return min(fitting, key=lambda example: example.id)


def is_answered(example: Example) -> bool:
    """Whether an answer is correct and cites the relevant document."""
    return any(
        is_correct(text, list(example.right)) and example.gold in example.cited(name)
        for name, text in example.answers.items()
    )


def has_other_citations(example: Example) -> bool:
    """Whether naming the authors changes the cited documents."""
    plain, informed = (set(example.cited(mode)) for mode in COMPARED)
    return plain != informed


def recorded_examples(
    job: ResultJob, answers: Sequence[tuple[str, Arm, str | Path]]
) -> list[Example]:
    """Questions with recorded answers, each with its name, arm and record.

    The arms have the same authors, so they have the same questions and documents. A record lacks
    answers that cannot be published; their questions are left out.
    """
    params, files = job.params, job.input
    sizes = params.sizes
    drawn_questions = DrawnQuestions.of_job(job)
    benchmark = drawn_questions.benchmark
    (setting, *_) = study_settings(sizes["k"], [], first=params.retrievers[0])
    templates = (
        read_template(Path(files.template)),
        read_template(Path(files.authors_template)),
    )
    texts_by_prompt = {
        record: {
            entry.prompt_sha256: entry.answer.text for entry in read_record(Path(record)).values()
        }
        for _, _, record in answers
    }
    collected = []
    _, arm, _ = answers[0]
    for question in drawn_questions.of_arm(setting, arm, sizes["questions"][setting.name]):
        texts = {}
        for name, answer_arm, record in answers:
            request = make_request(
                Presentation(setting, answer_arm, question),
                question=benchmark.questions[question.id],
                text=lambda document, author: benchmark.texts[author][document],
                templates=templates,
                decoding=Decoding(max_tokens=sizes["max_tokens"]),
                words={"Human": params.labels["human"], "LLM": params.labels["llm"]},
            )
            answer = texts_by_prompt[record].get(prompt_hash(request))
            if answer is not None:
                texts[name] = " ".join(answer.split()) or "(no text)"
        if len(texts) < len(answers):
            continue
        authors = tuple(
            arm.relevant_author if number == question.gold else arm.nonrelevant_author
            for number in range(1, len(question.documents) + 1)
        )
        collected.append(
            Example(
                question.id,
                benchmark.questions[question.id],
                tuple(benchmark.right[question.id]),
                tuple(
                    benchmark.texts[author][document]
                    for author, document in zip(authors, question.documents, strict=True)
                ),
                authors,
                question.gold,
                texts,
            )
        )
    return collected
