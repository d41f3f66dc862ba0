"""Reasoning in answers: tags of current models, single, nested, unclosed, and in tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.language_models.generation import Answer, Token
from everycell.language_models.reasoning import (
    NAMES,
    is_reasoning_tag,
    opening_tag,
    reasoning_spans,
    without_reasoning,
)
from everycell.rag.answers import is_correct
from papers.abolghasemi2026.ch3_few_shot import parse_label
from papers.abolghasemi2026.ch5_paraphrase_checks import judge
from papers.abolghasemi2026.ch5_quotations import withhold_quotation, without_quotations
from papers.lajewska2025 import ch6_writing as responses
from papers.lajewska2025.ch6_autonuggetizer import read_facts, read_labels
from papers.lajewska2025.ch6_nuggets import marked_spans

ANSWER = "Owls hunt [1]."
# Reasoning in the form of each model, before ANSWER.
FORMS = {
    "DeepSeek-R1, Qwen3": "<think>\nFoxes [2]?\n</think>\n\n",
    "Qwen3 without thinking": "<think>\n\n</think>\n\n",
    "template opens the tag": "Foxes [2]?\n</think>\n\n",
    "Claude by prompt": "<thinking>Foxes [2]?</thinking> ",
    "XML prompt": "<reasoning>Foxes [2]?</reasoning>\n",
    "capital letters": "<THINK>Foxes [2]?</THINK>",
    "attribute": '<thinking effort="low">Foxes [2]?</thinking>',
    "EXAONE": "<thought>\nFoxes [2]?\n</thought>\n\n",
    "Seed-OSS": "<seed:think>Foxes [2]?</seed:think>",
    "LongCat": "<longcat_think>Foxes [2]?</longcat_think>",
    "Magistral": "[THINK]Foxes [2]?[/THINK]",
    "Kimi-VL": "◁think▷Foxes [2]?◁/think▷",
    "Command A": "<|START_THINKING|>Foxes [2]?<|END_THINKING|>",
    "Sky-T1": "<|begin_of_thought|>Foxes [2]?<|end_of_thought|>\n\n",
    "Apertus": "<|inner_prefix|>Foxes [2]?<|inner_suffix|>",
    "Gemma 3": "<unused94>thought\nFoxes [2]?<unused95>",
    "Gemma 4": "<|channel>thought\nFoxes [2]?<channel|>",
    "Granite": "Here is my thought process: Foxes [2]?\n\nHere is my response:\n\n",
    "gpt-oss": (
        "<|channel|>analysis<|message|>Foxes [2]?<|end|><|start|>assistant"
        "<|channel|>final<|message|>"
    ),
    "gpt-oss, prompt's header cut": (
        "analysis<|message|>Foxes [2]?<|end|><|start|>assistant<|channel|>final<|message|>"
    ),
    "gpt-oss, a tool between": (
        "<|channel|>analysis<|message|>Foxes [2]?<|end|><|start|>assistant<|channel|>commentary"
        " to=functions.find <|constrain|>json<|message|>{}<|call|><|start|>assistant"
        "<|channel|>final<|message|>"
    ),
    "gpt-oss without special tokens": "analysisWe need foxes [2].assistantfinal",
    "nested": "<think>a <think>b</think> Foxes [2]?</think>",
    "two parts": "<think>a</think><think>Foxes [2]?</think> ",
}


@pytest.mark.parametrize("reasoning", FORMS.values(), ids=FORMS)
def test_without_reasoning_each_form(reasoning):
    assert without_reasoning(reasoning + ANSWER) == ANSWER


@pytest.mark.parametrize("name", NAMES)
def test_without_reasoning_each_name(name):
    assert without_reasoning(f"<{name}>Foxes [2]?</{name}>{ANSWER}") == ANSWER
    assert without_reasoning(f"Foxes [2]?</{name}>{ANSWER}") == ANSWER
    assert without_reasoning(f"<{name}>Foxes [2]?") == ""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>It goes on [2] and", ""),
        ("[THINK]It goes on", ""),
        ("<|channel|>analysis<|message|>It goes on", ""),
        ("analysisWe go on", ""),
        ("Here is my thought process: it goes on", ""),
        ("<|channel|>commentary to=functions.find<|message|>{}<|call|>", ""),
        (f"{ANSWER} <think>And foxes [2]?", f"{ANSWER} "),
        (f"{ANSWER}<think>And?</think> Yes.", f"{ANSWER} Yes."),
        (f"<think>a</think><answer>{ANSWER}</answer>", ANSWER),
        (f"<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>", ANSWER),
        (f"<|channel|>final<|message|>{ANSWER}<|return|>", ANSWER),
    ],
)
def test_without_reasoning_incomplete_and_wrapped(text, answer):
    assert without_reasoning(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "",
        ANSWER,
        "The tag `<think>` opens it, `</think>` closes it.",
        "The tag <think> opens it.",
        "analysis of owls [1]",
        "Final answer: [1]",
        "a < think > b",
        "[thinking of owls]",
    ],
)
def test_without_reasoning_leaves_other_texts(text):
    assert without_reasoning(text) == text and not reasoning_spans(text)


@pytest.mark.parametrize(
    "text",
    ["<think>" * 30_000, "</think>" * 30_000, "<" * 200_000, "<|channel|>" * 20_000,
     "<think " * 30_000, "analysis" * 20_000, "`<think>`" * 20_000],
)  # fmt: skip
def test_without_reasoning_takes_linear_time(text):
    assert len(without_reasoning(text)) <= len(text)


@given(st.lists(st.sampled_from(["<think>", "</think>", "a ", "[1]", "`", "\n", "<answer>"])))
def test_reasoning_spans_are_in_order(pieces):
    text, end = "".join(pieces), 0
    for start, stop in reasoning_spans(text):
        assert end <= start < stop <= len(text)
        end = stop


def test_answer_without_reasoning_keeps_the_tokens_of_the_answer():
    pieces = [("<think>", -0.1), ("2", -0.2), ("</th", -0.3), ("ink>\n[", -0.4), ("1", -0.5)]
    tokens = tuple(Token(text=text, logprob=value) for text, value in [*pieces, ("]", -0.6)])
    text = "".join(token.text for token in tokens)
    answer = Answer(text=text, finish="stop", tokens=tokens).without_reasoning()
    assert (answer.text, answer.reasoned) == ("[1]", True)
    assert [(token.text, token.logprob) for token in answer.tokens] == [
        ("[", -0.4), ("1", -0.5), ("]", -0.6),
    ]  # fmt: skip
    assert answer.without_reasoning() == answer
    scored = Answer(text="<think>", finish="scored")
    assert scored.without_reasoning() == scored


@given(st.lists(st.sampled_from(["<think>", "</think>", "a ", "[1]", "\n", "é"]), max_size=8))
def test_answer_without_reasoning_tokens_spell_the_text(pieces):
    tokens = tuple(Token(text=piece, logprob=-1.0) for piece in pieces)
    answer = Answer(text="".join(pieces), finish="stop", tokens=tokens).without_reasoning()
    assert "".join(token.text for token in answer.tokens) == answer.text


def test_opening_tag():
    assert opening_tag("<|assistant|><think>\n") == "<think>\n"
    assert opening_tag("<think>\n\n</think>\n\n") == opening_tag("Say <think> twice.") == ""


def test_is_reasoning_tag():
    assert all(map(is_reasoning_tag, ("[THINK]", "[/THINK]", "<|channel|>", "<|END_THINKING|>")))
    assert not any(map(is_reasoning_tag, ("<|im_end|>", "</s>", "[INST]")))


REASONED = "<think>\n1. vital\n- Foxes\n<IN>owls</IN>\nAnswer: foxes\nDissatisfied</think>\n"


def test_readers_of_answers_ignore_reasoning():
    assert read_labels(f"{REASONED}1. okay", 1, ("vital", "okay")) == ("okay",)
    assert read_facts(f"{REASONED}- Owls hunt") == ("Owls hunt",)
    assert marked_spans("owls hunt", f"{REASONED}owls <IN>hunt</IN>").spans == ((5, 9),)
    assert responses.without_reasoning(f"{REASONED}Answer: owls") == "owls"
    assert responses.without_reasoning(f"{REASONED}owls") == ""
    assert parse_label(f"{REASONED}Satisfied") is True
    assert is_correct(f"{REASONED}Owls", ["owls"]) and not is_correct(f"{REASONED}Owls", ["foxes"])
    paraphrase = judge(Answer(text=f"{REASONED}An owl hunts.", finish="stop"), "Owls hunt.", [])
    assert paraphrase == ("An owl hunts.", "")


def test_withhold_quotation_from_reasoning():
    """A record that is published has no passage in its reasoning."""
    passage = "Owls hunt at night in the old woods of the north."
    answer = Answer(text=f"<think>{passage}</think>They fly.", finish="stop")
    assert passage not in withhold_quotation(answer, passage, "").text
    assert passage not in without_quotations(answer, [passage], []).text
