"""Sampling of training data: shares, ranks of the factors, and the table, by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from chapter_jobs import FunctionJob
from data_errors import refused

from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample
from papers.abolghasemi2026.ch3_sampling import (
    RANK,
    UNDER_SAMPLING,
    ranked_setups,
    sampled_setups,
    sampling,
    training_shares,
    under_sample,
)
from papers.abolghasemi2026.ch3_training import PLAIN, Setup


def samples(satisfied, dissatisfied):
    turns = ((USER, "A boat?"), (SYSTEM, "At noon."))
    labels = [True] * satisfied + [False] * dissatisfied
    return [Sample(f"toy/{number}", "toy", turns, label) for number, label in enumerate(labels)]


@pytest.mark.parametrize(
    ("share", "satisfied"), [(0.5, 10), (0.25, 30), (2 / 3, 5), (0.05, 90), (0.999, 0)]
)
def test_under_sample_share(share, satisfied):
    """All dissatisfied samples stay; never more satisfied ones than there are."""
    sampled = under_sample(samples(90, 10), share, seed=1)
    assert sum(not sample.satisfied for sample in sampled) == 10
    assert sum(sample.satisfied for sample in sampled) == satisfied
    assert [sample.id for sample in sampled] == sorted(
        (sample.id for sample in sampled), key=lambda name: int(name.partition("/")[2])
    )


def test_under_sample_one_label():
    with refused("training samples"):
        under_sample(samples(3, 0), 0.5, seed=1)


def test_under_sample_seed():
    drawn = [{item.id for item in under_sample(samples(90, 10), 0.5, seed=seed)} for seed in (1, 2)]
    assert drawn[0] != drawn[1]
    assert drawn[0] == {item.id for item in under_sample(samples(90, 10), 0.5, seed=1)}


def test_sampled_setups_parts():
    parts = {"train": samples(90, 10), "valid": samples(5, 5)}
    setups = sampled_setups(parts, [30, 50], 0.5, limit=95, seed=1)
    assert list(setups) == ["up-sampling x30", "up-sampling x50", UNDER_SAMPLING]
    assert setups["up-sampling x50"] == (Setup(factor=50), parts)
    setup, own_parts = setups[UNDER_SAMPLING]
    assert setup == Setup()
    # The first 95 samples have five dissatisfied ones.
    assert len(own_parts["train"]) == 10
    assert own_parts["valid"] == parts["valid"]


def test_training_shares_by_hand():
    frame = pd.DataFrame(
        {"benchmark": "toy", "part": "train", "satisfied": [True] * 90 + [False] * 10}
    )
    table = training_shares(frame, {"bert": None, "asap": 92}, [10], 0.5)
    shares = table.set_index(["model", "setup"])["value"]
    assert shares["BERT", PLAIN] == 10
    assert shares["BERT", "up-sampling x10"] == pytest.approx(100 * 100 / 190)
    assert shares["BERT", UNDER_SAMPLING] == 50
    assert shares["ASAP", "up-sampling x10"] == pytest.approx(100 * 20 / 110)


def test_ranked_setups_ties():
    names = ["up-sampling x10", "up-sampling x20", "up-sampling x30", PLAIN, UNDER_SAMPLING]
    table = pd.DataFrame(
        {
            "model": "BERT",
            "setup": names,
            "benchmark": "toy",
            "metric": "F1, validation",
            "value": [60.0, 70, 60, 90, 95],
        }
    )
    ranks = ranked_setups(table).query("metric == @RANK").set_index("setup")["value"]
    assert RANK == "rank by validation"
    assert ranks.to_dict() == {
        "up-sampling x10": 2,
        "up-sampling x20": 1,
        "up-sampling x30": 2,
    }


def answers(setup, wrong, model="BERT"):
    """Two samples of each label in each part; one dissatisfied sample is wrong in some parts."""
    rows = [
        ("toy", part, f"toy/{number}", number < 2, model, setup, 0, probability)
        for part in ("valid", "main", "plain")
        for number, probability in enumerate([0.1, 0.1, 0.9, 0.1 if part in wrong else 0.9])
    ]
    columns = ["benchmark", "part", "id", "satisfied", "model", "setup", "seed", "probability"]
    return pd.DataFrame(rows, columns=columns)


def test_sampling_two_runs(tmp_path):
    """Runs in files of their own are averaged; baselines and other setups are left out."""
    trained = [
        pd.concat([answers(PLAIN, wrong), answers("with counterfactuals", [])])
        for wrong in (["valid", "main"], ["valid"])
    ]
    trained[0] = pd.concat([trained[0], answers(PLAIN, [], "Majority")])
    sampled = [
        pd.concat([answers("up-sampling x30", ["main"]), answers(UNDER_SAMPLING, ["valid"])]),
        pd.concat([answers("up-sampling x30", ["main"]), answers(UNDER_SAMPLING, [])]),
    ]
    files = {"trained": [], "sampled": []}
    for kind, frames in (("trained", trained), ("sampled", sampled)):
        for number, frame in enumerate(frames):
            path = tmp_path / f"{kind}-{number}.parquet"
            frame.to_parquet(path)
            files[kind].append(path)
    training = pd.DataFrame(
        {"benchmark": "toy", "part": "train", "satisfied": [True, True, True, False]}
    )
    training.to_parquet(tmp_path / "samples.parquet")
    job = FunctionJob(
        input=files | {"samples": tmp_path / "samples.parquet"},
        params={
            "factors": [30],
            "share": 0.5,
            "limits": {"bert": None},
            "trainings": 2,
        },
    )
    sampling(job)
    table = job.tables[""].set_index(["setup", "metric"])["value"]
    # Macro F1 with one of two dissatisfied samples wrong: (4/5 + 2/3) / 2.
    one_wrong = 100 * (4 / 5 + 2 / 3) / 2
    assert table[PLAIN, "F1, validation"] == pytest.approx(one_wrong)
    assert table[PLAIN, "F1, Main"] == pytest.approx((one_wrong + 100) / 2)
    assert table["up-sampling x30", "F1, Main"] == pytest.approx(one_wrong)
    assert table["up-sampling x30", RANK] == 1
    assert table[UNDER_SAMPLING, "F1, validation"] == pytest.approx((one_wrong + 100) / 2)
    assert table[UNDER_SAMPLING, "dissatisfied, percent"] == 50
    assert list(job.tables[""]["setup"].unique()) == [PLAIN, "up-sampling x30", UNDER_SAMPLING]
    assert set(job.tables[""]["model"]) == {"BERT"}
