"""Faithfulness and answer relevance, with a language model of fixed answers."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.lajewska2025.ch6_judging import mean_over_runs
from papers.lajewska2025.ch6_ragas import Grounding, answer_relevance, faithfulness
from papers.lajewska2025.ch6_response_tables import run_spread

PASSAGES = ("Owls eat mice.", "They hunt at\nnight.")


def by_words(prompts):
    """A model that lists sentences, and supports those in the passages."""
    for messages in prompts:
        text = messages[-1].content
        if "Statements:" in text:
            output, _, listed = text.partition("Statements:")
            lines = re.findall(r"^(\d+)\. (.*)$", listed, re.M)
            yield "\n".join(f"{n}: {'Yes' if line in output else 'no'}" for n, line in lines)
        else:
            answer = text.rpartition("Answer: ")[2]
            yield "\n".join(f"- {item.strip()}." for item in answer.split(".") if item.strip())


def faithful(*texts):
    requests = [Grounding("Owls?", text, PASSAGES) for text in texts]
    return faithfulness(requests, lambda prompts: list(by_words(prompts)))


def test_faithfulness_share():
    result = faithful("Owls eat mice. They sing.", "They hunt at night.", "They sing.")
    assert result == [0.5, 1.0, 0.0]


def test_faithfulness_empty_response():
    result = faithful("", "Owls eat mice.", "  ")
    assert np.isnan([result[0], result[2]]).all() and result[1] == 1.0
    nothing = faithfulness([Grounding("Q?", "Hm", PASSAGES)], lambda prompts: [""] * len(prompts))
    assert np.isnan(nothing[0])


@pytest.mark.parametrize(
    ("reply", "share"),
    [("1: yes\n2: no", 0.5), ("2: yes", 0.5), ("Sure!", 0.0), ("1: YES\n1: no", 0.5)],
)
def test_faithfulness_empty_statement(reply, share):
    replies = iter([["- one\n- two"], [reply]])
    own = Grounding("Q?", "One two.", PASSAGES)
    assert faithfulness([own], lambda prompts: next(replies)) == [share]


@given(st.text())
def test_faithfulness_any_reply(reply):
    replies = iter([["- one\n- two\n- three"], [reply]])
    result = faithfulness([Grounding("Q?", "A.", PASSAGES)], lambda prompts: next(replies))
    assert 0 <= result[0] <= 1


def test_relevance_is_the_mean_cosine_of_questions():
    angles = {"Q?": 0.0, "near?": 0.3, "far?": 1.2}

    def encode(texts):
        return np.array([[np.cos(angles[text]), np.sin(angles[text])] for text in texts])

    requests = [Grounding("Q?", "A.", ()), Grounding("Q?", "", ()), Grounding("Q?", "B.", ())]
    prompts = []

    def ask(messages):
        prompts.extend(messages)
        return ["- near?\n- far?\n- near?\n- another?", "none"]

    result = answer_relevance(requests, ask, encode, count=2)
    assert result == [pytest.approx((np.cos(0.3) + np.cos(1.2)) / 2), 0.0, 0.0]
    # An empty response needs no request.
    assert len(prompts) == 2 and "2 different questions" in prompts[0][0].content


RUNS = pd.DataFrame(
    [
        ("GINGER", "relevant", topic, "Faithfulness", run, value)
        for topic, values in (("1_1", (0.2, 0.4)), ("1_2", (1.0, 0.8)), ("1_3", (0.6,)))
        for run, value in enumerate(values, 1)
    ],
    columns=["system", "input", "topic", "metric", "run", "value"],
)


def test_mean_over_runs_missing_run():
    means = mean_over_runs(RUNS).set_index("topic")["value"]
    assert means.to_dict() == pytest.approx({"1_1": 0.3, "1_2": 0.9, "1_3": 0.6})


def test_run_spread_between_runs():
    """The deviation between means of runs is far below that between responses."""
    values = run_spread(RUNS).set_index("metric")["value"]
    assert values["Faithfulness mean"] == pytest.approx(0.6)
    assert values["Faithfulness sd"] == pytest.approx(0.0)
    single = run_spread(RUNS[RUNS["run"] == 1]).set_index("metric")["value"]
    assert single["Faithfulness sd"] == 0
