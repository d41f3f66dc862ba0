"""Estimators of satisfaction: a toy estimator is trained and used like those of the thesis."""

from __future__ import annotations

import pytest

from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample
from papers.abolghasemi2026.ch3_training import (
    AUGMENTED,
    CONTROL,
    ESTIMATORS,
    Majority,
    SatisfactionEstimator,
    Setup,
    TfIdf,
    baseline_names,
    is_own,
    is_published,
    make_setups,
    predictions_for,
    suitable_setups,
    thesis_names,
    training_samples,
)


def sample(name, answer, satisfied):
    return Sample(name, "toy", ((USER, "A taxi to the station?"), (SYSTEM, answer)), satisfied)


def samples(part):
    answers = ["I'm sorry, no.", "Booked.", "At 8."]
    return [
        sample(f"{part}{number}", f"{answers[number % 3]} {number}", number % 3 > 0)
        for number in range(9)
    ]


PARTS = {part: samples(part) for part in ("train", "valid", "main", "cf", "plain")}
SETUPS = {name: Setup(**setup) for name, setup in make_setups([1, 10]).items()}


class Keyword(SatisfactionEstimator):
    """Toy estimator: a user is dissatisfied if a word of a dissatisfying answer occurs."""

    name = "keyword"
    baselines = (Majority,)
    trained: list = []

    def train(self, setup, parts, folder, *, seed, training_seed):
        training, _ = training_samples(setup, parts, limit=self.samples, seed=seed)
        self.trained.append((setup, len(training), folder, training_seed))
        word = self.sizes["word"]
        return lambda dialogues: [float(word in turns[-1][1]) for turns in dialogues]


@pytest.fixture
def toy(monkeypatch):
    """Register the toy as a new estimator would be: its class, and one line."""
    monkeypatch.setattr(Keyword, "trained", [])
    monkeypatch.setitem(ESTIMATORS, "keyword", Keyword)
    return ESTIMATORS["keyword"](sizes={"word": "sorry"}, samples=6)


def test_predictions_for_new_estimator(toy, tmp_path):
    message = predictions_for(toy, PARTS, SETUPS, tmp_path, seeds=2, seed=7)
    own = message[message["model"] == "keyword"]
    assert set(own["setup"]) == set(SETUPS) and set(own["seed"]) == {0, 1}
    assert len(own) == 2 * len(SETUPS) * 4 * 9
    truth = ~own["satisfied"]
    assert ((own["probability"] == 1) == truth).all()
    assert set(own["part"]) == {"valid", "main", "cf", "plain"}
    # Six samples; as many again where each has its counterfactual.
    sizes = {(setup.counterfactuals, number) for setup, number, *_ in toy.trained}
    assert sizes == {(False, 6), (True, 12)}
    assert {seed for *_, seed in toy.trained} == {7, 8}
    assert len({folder for *_, folder, _ in toy.trained}) == 2 * len(SETUPS)


def test_predictions_for_baselines_once(toy, tmp_path):
    message = predictions_for(toy, PARTS, SETUPS, tmp_path, seeds=3, seed=0)
    baseline = message[message["model"] == "Majority"]
    assert set(baseline["seed"]) == {0} and set(baseline["setup"]) == {"w/o up-sampling"}
    assert baseline["probability"].unique().tolist() == pytest.approx([1 / 3])


def test_thesis_names_without_new_estimators(toy):
    assert "keyword" in ESTIMATORS and "keyword" not in thesis_names()
    assert thesis_names()
    assert baseline_names().count("Majority") == 2


def test_predictions_for_repeated_samples(tmp_path):
    message = predictions_for(TfIdf(), PARTS, SETUPS, tmp_path, seeds=5, seed=0)
    assert set(message["seed"]) == {0}
    means = message[message["satisfied"]].groupby("setup")["probability"].mean()
    assert means["up-sampling x10"] > means["w/o up-sampling"]


def test_suitable_setups_of_this_project():
    assert set(suitable_setups(SETUPS, PARTS)) == set(SETUPS)
    untested = {part: result for part, result in PARTS.items() if part != "cf"}
    assert not any(map(is_own, suitable_setups(SETUPS, untested)))
    polite = PARTS | {"train": [sample("a", "Booked.", True), sample("b", "No.", False)]}
    assert set(suitable_setups(SETUPS, polite)) == {name for name in SETUPS if CONTROL not in name}


def test_material_of_a_setup():
    training, valid = training_samples(Setup(counterfactuals=True), PARTS, limit=4, seed=0)
    assert (len(training), len(valid)) == (8, 18)
    assert sum(item.satisfied for item in training) == 4
    training, valid = training_samples(Setup(without_apologies=True), PARTS, seed=0)
    assert not any("sorry" in item.turns[-1][1] for item in (*training, *valid))
    assert len(training) == len(valid) == 9


def test_names_of_setups():
    names = list(make_setups([1, 10, 20]))
    assert [name for name in names if is_published(name)] == names[:3]
    assert [name for name in names if is_own(name)] == [AUGMENTED, f"up-sampling x10, {CONTROL}"]


@pytest.mark.parametrize(
    ("kind", "frozen", "encoder"),
    [("bert", False, "splade-tiny"), ("asap", True, "minilm"), ("asap", False, "splade-tiny")],
)
def test_small_encoders(kind, frozen, encoder):
    assert ESTIMATORS[kind].small_encoder(frozen=frozen) == encoder
    assert Keyword.small_encoder(frozen=frozen) is None
