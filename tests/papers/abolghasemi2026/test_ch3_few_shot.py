"""A language model as an estimator of satisfaction: asked like the others, and what is counted."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample, samples_to_frame
from everycell.language_models.generation import Answer, Request
from everycell.language_models.settings import Decoding
from papers.abolghasemi2026.ch3_answers import add_labels, confusions, select_setups
from papers.abolghasemi2026.ch3_few_shot import (
    FEW_SHOT,
    FewShotModel,
    labelled_samples,
)
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


def test_it_is_asked_as_the_others_are_in_one_setup(model, prompts, tmp_path):
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


def test_an_answer_without_a_label_is_a_wrong_one(model, tmp_path):
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


def test_without_a_number_all_samples_are_labelled_of_every_benchmark():
    result = dict(labelled_samples(two_benchmarks(), pairs=None, seed=0))
    assert result == {"toy": PARTS, "other": {"train": [], "main": result["other"]["main"]}}
    assert [item.id for item in result["other"]["main"]] == ["9"]


def test_pairs_are_drawn_of_benchmarks_that_have_counterfactuals():
    result = dict(labelled_samples(two_benchmarks(), pairs=5, seed=0))
    assert {name: len(item) for name, item in result["toy"].items()} == {
        "train": 0,
        "main": 1,
        "cf": 1,
    }
    assert set(result) == {"toy"}


def test_the_full_tier_has_both_models_of_the_print_and_all_samples():
    full = UserSatisfaction().full.few_shot
    assert set(full.models.values()) == {"Zephyr", "MistralIF"} and full.pairs is None


def test_a_model_without_log_probabilities_must_be_one_that_is_asked():
    with pytest.raises(ValueError, match="`without_logprobs` contains 'gpt'"):
        FewShot(without_logprobs=["gpt"])
