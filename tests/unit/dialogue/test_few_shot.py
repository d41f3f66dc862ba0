"""Few-shot labels: what is asked, and which answers count."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import Sample
from everycell.dialogue.few_shot import dissatisfaction, draw_pairs, messages, parse_label
from everycell.language_models.generation import Answer, NotOfferedError, Token

TURNS = (("USER", "A taxi?"), ("SYSTEM", "At 8."))


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Satisfied", True),
        ("  satisfied, since it helps", True),
        ("DISSATISFIED", False),
        ("The user is not satisfied.", False),
        ("unsatisfied", False),
        ("The user isn't satisfied.", False),
        ("not very satisfied", False),
        ("The user is not dissatisfied.", None),
        # It names both, or none, is empty, refuses, speaks another language, or never ends.
        ("Satisfied/Dissatisfied", None),
        ("Not satisfied, then satisfied", None),
        ("", None),
        ("I am sorry, but I cannot judge this.", None),
        ("zufrieden", None),
        ("satisfiedsatisfied" * 100, None),
        ("satisfied " * 10_000, True),
    ],
)
def test_parse_label(answer, label):
    assert parse_label(answer) is label


@given(st.text())
def test_parse_label_any_text(answer):
    assert parse_label(answer) in (True, False, None)


def test_messages_order():
    requests = messages(TURNS)
    assert requests[-1].content.startswith("USER: A taxi?\nSYSTEM: At 8.\n")
    output = [message.content for message in requests if message.role == "assistant"]
    assert [parse_label(label) for label in output] == [True, False]
    # Not all models take a message of the system.
    assert [message.role for message in requests[:2]] == ["user", "assistant"]
    log = [message.content.startswith("You read a conversation") for message in requests]
    assert log == [True, False, False, False, False]


def answer(*tokens):
    result = tuple(Token(text=text, logprob=math.log(chance)) for text, chance in tokens)
    return Answer(text="".join(text for text, _ in tokens), finish="stop", tokens=result)


@pytest.mark.parametrize(
    ("label_probability", "probability"),
    [
        (answer(("Sat", 0.5), ("isfied", 1)), 0.25),
        (answer(("Dis", 0.5), ("satisfied", 0.4)), 0.6),
        # What follows the label does not count, what stands before it does.
        (answer(("Satisfied", 0.8), (", as", 0.01), (" it helps", 0.01)), 0.1),
        (answer(("Label: ", 0.5), ("dissatisfied", 0.8)), 0.7),
        # Nobody asked how sure it is.
        (Answer(text="dissatisfied", finish="stop"), 1),
        (Answer(text="Not satisfied", finish="stop"), 1),
    ],
)
def test_dissatisfaction(label_probability, probability):
    assert dissatisfaction(label_probability) == pytest.approx(probability)
    assert (dissatisfaction(label_probability) > 0.5) is (
        parse_label(label_probability.text) is False
    )


def test_dissatisfaction_without_label():
    assert math.isnan(dissatisfaction(answer(("Well", 0.5))))


@given(st.sets(st.integers(0, 20), min_size=1), st.integers(1, 30), st.integers(0, 5))
def test_draw_pairs(with_cf, size, seed):
    main = [Sample(f"{n}", "toy", TURNS, True) for n in range(21)]
    further = [Sample(f"{n}-cf", "toy", TURNS, False) for n in sorted(with_cf)]
    first, second = draw_pairs(main, further, size=size, seed=seed)
    assert len(first) == min(size, len(with_cf)) == len({item.id for item in first})
    assert [f"{item.id}-cf" for item in first] == [item.id for item in second]
    assert (first, second) == draw_pairs(main, further, size=size, seed=seed)


@pytest.mark.parametrize(
    ("size", "dissatisfied", "drawn"), [(10, 7, 5), (9, 7, 4), (10, 3, 3), (12, 0, 0), (60, 7, 7)]
)
def test_draw_pairs_balance(size, dissatisfied, drawn):
    main = [Sample(f"{n}", "toy", TURNS, n >= dissatisfied) for n in range(30)]
    further = [Sample(f"{item.id}-cf", "toy", TURNS, not item.satisfied) for item in main]
    for seed in range(3):
        first, _ = draw_pairs(main, further, size=size, seed=seed)
        assert sum(not item.satisfied for item in first) == drawn
        assert len(first) == min(size, 30)


@pytest.mark.parametrize(("size", "count"), [(0, ["1-cf"]), (3, ["2-cf"])])
def test_draw_pairs_none(size, count):
    main = [Sample("1", "toy", TURNS, True)]
    with pytest.raises(DataError) as caught:
        draw_pairs(main, [Sample(name, "toy", TURNS, False) for name in count], size=size, seed=0)
    assert caught.value.value == size and "counterfactual" in caught.value.column


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "tokens",
    [
        (),
        (Token(text="Dis", logprob=-0.1),),
        # A record that was thinned for others.
        (Token(text="Dissatisfied", logprob=None),),
    ],
)
def test_dissatisfaction_missing_tokens(tokens):
    with pytest.raises(NotOfferedError):
        dissatisfaction(Answer(text="Dissatisfied", finish="stop", tokens=tokens))
