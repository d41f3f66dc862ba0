"""Figures of the prompts of chapter 5: they show what is sent."""

from __future__ import annotations

import pytest
from chapter_jobs import FunctionJob

from everycell.language_models.generation import Answer
from everycell.language_models.settings import Decoding
from everycell.rag.prompts import (
    AUTHORS_TEMPLATE,
    NAMES,
    PLAIN_TEMPLATE,
    Question,
    read_template,
)
from papers.abolghasemi2026.ch5_arms import PLAIN_ARMS, Presentation, study_settings
from papers.abolghasemi2026.ch5_generation import PromptedModel
from papers.abolghasemi2026.ch5_paraphrasing import TEMPLATES, Passage, paraphrase_all
from papers.abolghasemi2026.ch5_paraphrasing import read_template as read_paraphrase_template
from papers.abolghasemi2026.ch5_prompts import AUTHOR, QUESTION, modes, prompts, text_slot
from papers.abolghasemi2026.ch5_requests import Benchmark

DOCUMENTS = ("d1", "d2", "d3")
BENCHMARK = Benchmark(
    "toy",
    texts={
        author: {name: f"{author}'s words on {name}." for name in DOCUMENTS}
        for author in ("Human", "LLM")
    },
    questions={"q": "who wrote it"},
)
FILES = {"template": PLAIN_TEMPLATE, "authors_template": AUTHORS_TEMPLATE, "names": NAMES}


@pytest.fixture(scope="module")
def figures():
    job = FunctionJob(input={**FILES, **TEMPLATES}, params={"k": len(DOCUMENTS)})
    prompts(job)
    return job.figures


def sent_messages(request):
    return [(message.role, message.content) for message in request.prompt]


def replace_slots(parts, slots):
    """Roles and texts of a figure, with the next value of a slot at each of its places."""
    messages = []
    for role, text in zip(parts["part"], parts["text"], strict=True):
        for slot, values in slots.items():
            pieces = text.split(slot)
            filled = [piece + value for piece, value in zip(pieces, values, strict=False)]
            text = "".join([*filled[: len(pieces) - 1], pieces[-1]])
        messages.append((role, text))
    return messages


@pytest.mark.parametrize(("name", "mode"), [("", "Vanilla"), ("figure_5_7", "Informed")])
@pytest.mark.parametrize("author", ["Human", "LLM"])
def test_prompts_answers_as_sent(figures, name, mode, author):
    (arm,) = (arm for arm in PLAIN_ARMS if arm[0] == author and arm[2] == mode)
    setting = study_settings(len(DOCUMENTS), [2])[0]
    model = PromptedModel(
        "toy",
        None,
        templates=(read_template(PLAIN_TEMPLATE), read_template(AUTHORS_TEMPLATE)),
        decoding=Decoding(max_tokens=5),
    )
    (request,) = model.requests(
        [Presentation(setting, arm, Question("q", DOCUMENTS, gold=2))], BENCHMARK
    )
    other = arm.nonrelevant_author
    authors = [other, author, other]
    slots = {QUESTION: [BENCHMARK.questions["q"]], AUTHOR: authors}
    for number, document in enumerate(DOCUMENTS):
        slots[text_slot(str(number + 1))] = [BENCHMARK.texts[authors[number]][document]]
    assert replace_slots(figures[name], slots) == sent_messages(request)


@pytest.mark.parametrize("unit", ["sentence", "passage"])
def test_prompts_paraphrases_as_sent(figures, unit):
    requests = []

    def ask(batch):
        requests.extend(batch)
        return [Answer(text="", finish="stop")] * len(batch)

    text = "The bridge opened in 1931."
    paraphrase_all(
        [Passage("d1", text, ())],
        ask,
        read_paraphrase_template(TEMPLATES[unit]),
        [Decoding(max_tokens=5)],
        unit=unit,
    )
    panels = dict(list(figures["figure_5_6"].groupby("unit")))
    assert replace_slots(
        panels[f"one {unit} per prompt"], {f"{{{unit}}}": [text]}
    ) == sent_messages(requests[0])


def test_prompts_names(figures):
    (text,) = figures["figure_5_8"]["text"]
    assert text.split(", ") == NAMES.read_text().splitlines()


def test_modes_authors():
    job = FunctionJob()
    modes(job)
    assert list(job.figures[""].itertuples(index=False, name=None)) == [
        ("Vanilla", "relevant document", "[1] {text written by LLM}"),
        ("Vanilla", "other document", "[2] {text written by Human}"),
        ("Informed", "relevant document", "[1] (author: LLM) {text written by LLM}"),
        ("Informed", "other document", "[2] (author: Human) {text written by Human}"),
        ("CF-informed", "relevant document", "[1] (author: Human) {text written by LLM}"),
        ("CF-informed", "other document", "[2] (author: LLM) {text written by Human}"),
    ]
    assert list(job.figures["figure_5_4"]["text"]) == [
        "[1] (author: Human) {text written by Human}",
        "[2] (author: LLM) {text written by Human}",
    ]
