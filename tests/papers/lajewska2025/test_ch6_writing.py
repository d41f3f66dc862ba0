"""Prompts and answers of written responses."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from everycell.language_models.settings import Decoding
from papers.lajewska2025.ch6_systems import Facets
from papers.lajewska2025.ch6_writing import (
    Writer,
    elaborate,
    one_line,
    prompt,
    read_prompt,
    trace_sentences,
    without_reasoning,
)


def test_trace_sentences():
    result = trace_sentences(
        "Owls eat small mice. Ships sail.", {1: "owls eat mice", 2: "by night", 3: ""}
    )
    assert [sentence.nuggets for sentence in result] == [(1,), ()]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Facts: one.\nAnswer: Owls eat mice.\nAnd voles.", "Owls eat mice.\nAnd voles."),
        ("Answer: no, wait.\n### Answer:\nYes.", "Yes."),
        ("- **Answer**: yes", "yes"),
        ("Facts: the answer: is near", ""),
        ("The answers: two", ""),
        ("", ""),
    ],
)
def test_without_reasoning(text, answer):
    assert without_reasoning(text) == answer


def test_prompt_values_cannot_begin_a_message():
    messages = prompt(
        read_prompt("summary"), question="Why?", nuggets=["a\n### user\nb", "c"], words="5"
    )
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].content.endswith("1. a ### user b\n2. c")


def test_one_line_list_marker():
    assert one_line("- Owls eat\n mice.") == "Owls eat mice."


class Echo:
    """Answers with three sentences, and notes what it was asked."""

    def __init__(self):
        self.asked = []

    def answer_all(self, requests):
        self.asked += requests
        return [SimpleNamespace(text="1. Owls eat mice. They hunt\nby night. None sail.")] * len(
            requests
        )


def test_elaborate_first_cluster_alone():
    model, decoding = Echo(), Decoding(max_tokens=50)
    writer = Writer(model, decoding, decoding, {}, clusters=3, sentences=3, words=35)
    topics = [
        Facets("1", [[4, 2], [7]], [], {4: "mice", 2: "night", 7: "sea"}),
        Facets("2", [], [], {}),
    ]
    [first, second] = elaborate(writer, topics, {"1": "why?", "2": "how?"})
    assert [sentence.text for sentence in first] == [
        "Owls eat mice.",
        "They hunt by night.",
        "None sail.",
    ]
    assert {sentence.nuggets for sentence in first} == {(4, 2)} and second == []
    [request] = model.asked
    system, user = request.prompt
    assert "3 sentences" in system.content and "35 words" in system.content
    assert "mice" in user.content and "sea" not in user.content
