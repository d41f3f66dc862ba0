"""A language model as an estimator of satisfaction."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample, samples_to_frame
from everycell.language_models.generation import Answer, NotOfferedError, Request, Token
from everycell.language_models.settings import Decoding
from papers.abolghasemi2026.ch3_few_shot import (
    FEW_SHOT,
    FewShotModel,
    dissatisfaction,
    draw_pairs,
    labelled_samples,
    messages,
    parse_label,
)
from papers.abolghasemi2026.ch3_predictions import add_labels, confusions, select_setups
from papers.abolghasemi2026.ch3_settings import FewShot, UserSatisfaction
from papers.abolghasemi2026.ch3_training import (
    SatisfactionEstimator,
    Setup,
    make_setups,
    predictions_for,
)


def sample(name, answer, satisfied):
    return Sample(name, "toy", ((USER, "A taxi?"), (SYSTEM, answer)), satisfied)


#: Of three originals the model gets one right, one wrong and of one names no label.
SAID = {"Booked.": "Satisfied", "Done.": "dissatisfied", "Well.": "Hm", "No.": "Dissatisfied"}
PARTS = {
    "train": [],
    "main": [sample("1", "Booked.", True), sample("2", "Done.", True), sample("3", "Well.", False)],
    "cf": [sample("1-cf", "No.", False)],
}


@pytest.fixture
def prompts():
    return []


@pytest.fixture
def model(prompts):
    def answer_all(requests):
        prompts.extend(requests)
        answered = {f"SYSTEM: {last}": label for last, label in SAID.items()}
        lines = [request.prompt[-1].content.splitlines()[1] for request in requests]
        return [Answer(text=answered[line], finish="stop") for line in lines]

    return FewShotModel("Toy", answer_all, Decoding(max_tokens=3, logprobs=True))


def test_predictions_for_few_shot(model, prompts, tmp_path):
    assert isinstance(model, SatisfactionEstimator)
    setups = {name: Setup(**setup) for name, setup in make_setups([1, 10]).items()}
    message = predictions_for(model, PARTS, setups, tmp_path, seeds=3, seed=0)
    assert message["setup"].unique().tolist() == [FEW_SHOT] and message[
        "seed"
    ].unique().tolist() == [0]
    assert message["part"].tolist() == ["main", "main", "main", "cf"]
    np.testing.assert_array_equal(message["probability"], [0, 1, math.nan, 1])
    assert {request.decoding for request in prompts} == {Decoding(max_tokens=3, logprobs=True)}
    assert all(isinstance(request, Request) for request in prompts) and len(prompts) == 4


def test_confusions_answer_without_label(model, tmp_path):
    message = predictions_for(model, PARTS, {}, tmp_path, seeds=1, seed=0).assign(benchmark="toy")
    counts = confusions(add_labels(message)).set_index("test_data")
    assert counts.loc["Main"].tolist()[4:] == [1, 1, 0, 1]
    assert counts.loc["CF"].tolist()[4:] == [0, 0, 1, 0]
    assert select_setups(add_labels(message)) == {("toy", "Toy"): FEW_SHOT}


def two_benchmarks():
    full = [
        samples_to_frame(item).assign(part=part) for part, item in PARTS.items() if part != "train"
    ]
    other = samples_to_frame([Sample("9", "other", PARTS["main"][0].turns, True)])
    return pd.concat([*full, other.assign(part="main")], ignore_index=True)


def test_labelled_samples_without_number():
    result = dict(labelled_samples(two_benchmarks(), pairs=None, seed=0))
    assert result == {"toy": PARTS, "other": {"train": [], "main": result["other"]["main"]}}
    assert [item.id for item in result["other"]["main"]] == ["9"]


def test_labelled_samples_pairs():
    result = dict(labelled_samples(two_benchmarks(), pairs=5, seed=0))
    assert {name: len(item) for name, item in result["toy"].items()} == {
        "train": 0,
        "main": 1,
        "cf": 1,
    }
    assert set(result) == {"toy"}


def test_user_satisfaction_full_few_shot():
    full = UserSatisfaction().full.few_shot
    assert set(full.models.values()) == {"Zephyr", "MistralIF"} and full.pairs is None


def test_few_shot_unknown_model():
    with pytest.raises(ValueError, match="`without_logprobs` contains 'gpt'"):
        FewShot(without_logprobs=["gpt"])


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
        # Both labels, none, an empty answer, a refusal, another language, an endless answer.
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
        # Text after the label is ignored, text before it counts.
        (answer(("Satisfied", 0.8), (", as", 0.01), (" it helps", 0.01)), 0.1),
        (answer(("Label: ", 0.5), ("dissatisfied", 0.8)), 0.7),
        # No probabilities were requested.
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
