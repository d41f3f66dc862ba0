"""Dialogues with planted satisfaction: labels, noise, imbalance."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from papers.abolghasemi2026.ch3_planted import FAULTS, RETRIES, plant_dialogues


def test_plant_dialogues_samples() -> None:
    planted = plant_dialogues(5, dissatisfied=0.3, seed=1)
    samples = {sample.id: sample for sample in planted.samples}
    assert list(samples) == planted.truth["id"].tolist()
    for row in planted.truth.itertuples():
        turns = samples[row.id].turns
        assert [speaker for speaker, _ in turns] == ["USER", "SYSTEM"] * row.turn
        if row.turn > 1:
            assert samples[f"{row.dialogue}/{row.turn - 1}"].turns == turns[:-2]


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_plant_dialogues_noise(seed: int) -> None:
    clean = plant_dialogues(10, dissatisfied=0.2, seed=seed)
    noisy = plant_dialogues(10, dissatisfied=0.2, noise=0.3, seed=seed)
    assert [s.turns for s in clean.samples] == [s.turns for s in noisy.samples]
    assert [s.satisfied for s in clean.samples] == clean.truth["satisfied"].tolist()
    assert clean.truth.equals(noisy.truth)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_plant_dialogues_faults(seed: int) -> None:
    planted = plant_dialogues(8, dissatisfied=0.5, seed=seed)
    assert ((planted.truth["fault"] == "") == planted.truth["satisfied"]).all()
    assert set(planted.truth["fault"]) <= {"", *FAULTS}
    for sample, fault in zip(planted.samples, planted.truth["fault"], strict=True):
        system = sample.turns[-1][1]
        assert "{" not in system + sample.turns[-2][1]
        if fault == "asked again":
            assert system.endswith("?")


def test_plant_dialogues_retries() -> None:
    planted = plant_dialogues(30, dissatisfied=0.4, seed=2)
    samples = dict(zip(planted.truth["id"], planted.samples, strict=True))
    again = 0
    for row in planted.truth[~planted.truth["satisfied"]].itertuples():
        after = samples.get(f"{row.dialogue}/{row.turn + 1}")
        message = samples[row.id].turns[-2][1]
        if after and row.turn <= RETRIES:
            assert after.turns[-2][1].endswith(message.rsplit(": ", 1)[-1][-12:])
            again += 1
    assert again > 10


def test_plant_dialogues_shares() -> None:
    planted = plant_dialogues(600, dissatisfied=0.1, noise=0.2, seed=4)
    wrong = [
        sample.satisfied != satisfied
        for sample, satisfied in zip(planted.samples, planted.truth["satisfied"], strict=True)
    ]
    # Four standard errors of shares of more than 3,000 labels.
    assert abs(1 - planted.truth["satisfied"].mean() - 0.1) < 0.022
    assert abs(sum(wrong) / len(wrong) - 0.2) < 0.03
