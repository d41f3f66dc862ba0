"""Prompts of chapter 5 of abolghasemi2026, shown as figures, with slots for the data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import cast

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.language_models import templates
from everycell.language_models.generation import Message
from everycell.language_models.settings import Decoding
from everycell.rag.prompts import (
    Question,
    author_texts,
    document_lines,
    read_names,
    read_template,
)
from everycell.render.text_figures import text_figure
from papers.abolghasemi2026.ch5_arms import (
    FIRST_RETRIEVER,
    MODES,
    PLAIN_ARMS,
    Arm,
    Presentation,
    Setting,
)
from papers.abolghasemi2026.ch5_paraphrasing import read_template as read_paraphrase_template
from papers.abolghasemi2026.ch5_requests import make_request

QUESTION, AUTHOR = "{question}", "{author}"
#: Figure -> mode of its prompt.
MODES_OF_FIGURES = {"": "Vanilla", "figure_5_7": "Informed"}


def prompts(job: ResultJob) -> None:
    """Figures 5.2, 5.6, 5.7 and 5.8: the project's prompts, and its list of names."""
    answer_templates = (
        read_template(Path(job.input.template)),
        read_template(Path(job.input.authors_template)),
    )
    for name, mode in MODES_OF_FIGURES.items():
        arm = next(arm for arm in PLAIN_ARMS if {*arm[2:]} == {mode})
        numbers = tuple(str(number) for number in range(1, job.params.k + 1))
        setting = Setting("main", FIRST_RETRIEVER, job.params.k, "retrieved", "plain", PLAIN_ARMS)
        request = make_request(
            Presentation(setting, arm, Question("slots", numbers, gold=1)),
            question=QUESTION,
            text=lambda document, author: text_slot(document),
            templates=answer_templates,
            decoding=Decoding(max_tokens=1),
            words={"Human": AUTHOR, "LLM": AUTHOR},
        )
        parts = message_parts(cast(tuple[Message, ...], request.prompt))
        job.write_figure(parts, text_figure(parts, monospace=True), name)
    paraphrasing = pd.concat(
        message_parts(
            templates.fill(read_paraphrase_template(Path(path)), passage=f"{{{unit}}}")
        ).assign(unit=f"one {unit} per prompt")
        for unit, path in (("passage", job.input.passage), ("sentence", job.input.sentence))
    )
    figure = text_figure(paraphrasing, panel="unit", monospace=True)
    job.write_figure(paraphrasing, figure, "figure_5_6")
    names = read_names(Path(job.input.names))
    pool = pd.DataFrame({"part": [f"{len(names)} names"], "text": [", ".join(names)]})
    job.write_figure(pool, text_figure(pool), "figure_5_8")


def modes(job: ResultJob) -> None:
    """Figures 5.3 and 5.4: documents as prompts show them in the three modes and the mixed one."""
    same = [Arm("LLM", "Human", mode, mode) for mode in MODES]
    mixed = [Arm("Human", "Human", "Informed", "CF-informed")]
    for name, arms in (("", same), ("figure_5_4", mixed)):
        parts = pd.concat([presented_documents(arm) for arm in arms], ignore_index=True)
        figure = text_figure(parts, panel="mode", monospace=True)
        job.write_figure(parts, figure, name)


def presented_documents(arm: Arm) -> pd.DataFrame:
    """The relevant document and another one in the prompt of an arm, with slots for their texts."""
    question = Question("slots", ("relevant", "other"), gold=1)
    authors = author_texts(arm.labels(question))
    texts = [
        f"{{text written by {author}}}" for author in (arm.relevant_author, arm.nonrelevant_author)
    ]
    lines = document_lines(texts, authors).splitlines()
    same_mode = arm.mode_relevant == arm.mode_nonrelevant
    return pd.DataFrame(
        {
            "mode": arm.mode_relevant if same_mode else " and ".join(arm[2:]),
            "part": [f"{document} document" for document in question.documents],
            "text": lines,
        }
    )


def text_slot(document: str) -> str:
    """Slot of the text of a document, by its number."""
    return f"{{text of document {document}}}"


def message_parts(messages: Iterable[Message]) -> pd.DataFrame:
    """Messages as parts of a figure."""
    rows = [(message.role, message.content) for message in messages]
    return pd.DataFrame(rows, columns=["part", "text"])
