"""Scores from nugget labels: hand-worked examples, invariants, and the released scores."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from everycell.sources import fetch
from papers.lajewska2025.ch6_labels import CONDENSED, read_nugget_labels
from papers.lajewska2025.ch6_scores import (
    MEASURES,
    judge_agreement,
    lowercase_importance,
    nugget_scores,
    rank_agreement,
    unify_importance,
)

LABELS = st.tuples(
    st.sampled_from(["vital", "okay", "", "Vital"]),
    st.sampled_from(["support", "partial_support", "not_support"]),
)
RESPONSE = st.lists(LABELS, max_size=12)


def frames(responses):
    """Labels and responses of one judge, a topic a response."""
    rows = [
        ("j", "r", str(topic), position, *label)
        for topic, labels in enumerate(responses)
        for position, label in enumerate(labels, start=1)
    ]
    names = ["judge", "run", "topic", "nugget", "importance", "support"]
    nuggets = pd.DataFrame(rows, columns=names, dtype=object)
    index = pd.DataFrame({"topic": [str(topic) for topic in range(len(responses))]})
    return nuggets, index.assign(judge="j", run="r")[["judge", "run", "topic"]]


def nugget_score(labels, measure="V_strict"):
    """Score of one response."""
    return nugget_scores(*frames([labels]), measure)["value"].item()


@pytest.mark.parametrize(
    ("measure", "by_hand"),
    [
        # Three vital nuggets (full, part, none), two okay ones (full, part).
        ("V_strict", 1 / 3),
        ("V", 1.5 / 3),
        ("A_strict", 2 / 5),
        ("A", 3 / 5),
        ("W_strict", 1.5 / 4),
        ("W", 2.25 / 4),
    ],
)
def test_nugget_scores_by_hand(measure, by_hand):
    importance = ["vital"] * 3 + ["okay"] * 2
    support = ["support", "partial_support", "not_support", "support", "partial_support"]
    labels = list(zip(importance, support, strict=True))
    assert nugget_score(labels, measure) == pytest.approx(by_hand)


@pytest.mark.parametrize("measure", MEASURES)
def test_nugget_scores_no_nuggets(measure):
    assert nugget_score([], measure) == 0
    assert nugget_score([("Vital", "support"), ("", "support")], measure) == 0


def test_nugget_scores_no_vital_nuggets():
    scores = {name: nugget_score([("okay", "support")], name) for name in MEASURES}
    assert scores == {"V_strict": 0, "V": 0, "A_strict": 1, "A": 1, "W_strict": 1, "W": 1}


@given(st.lists(RESPONSE, max_size=5), st.sampled_from(list(MEASURES)))
def test_nugget_scores_one_by_one(responses, measure):
    nuggets, index = frames(responses)
    result = nugget_scores(nuggets, index, measure)["value"].tolist()
    assert result == pytest.approx([nugget_score(one, measure) for one in responses])


@given(RESPONSE)
def test_nugget_scores_bounds_and_order(labels):
    score = {name: nugget_score(labels, name) for name in MEASURES}
    assert all(0 <= value <= 1 for value in score.values())
    for name in "VAW":
        assert score[f"{name}_strict"] <= score[name]
    if {"vital", "okay"} <= {importance for importance, _ in labels}:
        assert min(score["V"], score["A"]) - 1e-12 <= score["W"]
        assert score["W"] <= max(score["V"], score["A"]) + 1e-12


@given(RESPONSE, st.randoms(use_true_random=False), st.sampled_from(list(MEASURES)))
def test_nugget_scores_order_of_nuggets(labels, dice, measure):
    mixed = labels.copy()
    dice.shuffle(mixed)
    assert nugget_score(mixed, measure) == pytest.approx(nugget_score(labels, measure))


@given(RESPONSE, st.integers(0, 11), st.sampled_from(list(MEASURES)))
def test_nugget_scores_more_support(labels, nugget_index, measure):
    better = [
        (importance, "support" if number == nugget_index else support)
        for number, (importance, support) in enumerate(labels)
    ]
    assert nugget_score(better, measure) >= nugget_score(labels, measure)


def test_lowercase_importance():
    nuggets, index = frames([[("Vital", "support"), ("Okay", "support")]])
    assert nugget_scores(nuggets, index)["value"].tolist() == [0]
    assert nugget_scores(lowercase_importance(nuggets), index)["value"].tolist() == [1]


def test_unify_importance():
    labels = pd.DataFrame(
        [
            (run, nugget, importance)
            for nugget, support_label in enumerate(
                [("vital", "Vital", "okay"), ("okay", "okay", "vital"), ("", "okay", "vital"), ""],
                start=1,
            )
            for run, importance in zip("abc", support_label or ("", "", ""), strict=True)
        ],
        columns=["run", "nugget", "importance"],
    ).assign(judge="j", topic="1")
    result = unify_importance(labels).groupby("nugget")["importance"].unique()
    # Half of the votes are enough, and without votes there is no importance.
    assert [list(kinds) for kinds in result] == [["vital"], ["okay"], ["vital"], [""]]


def test_unify_importance_separate_keys():
    labels = pd.DataFrame(
        {"judge": list("abb"), "topic": list("112"), "nugget": 1, "importance": "vital"}
    )
    labels.loc[0, "importance"] = labels.loc[2, "importance"] = "okay"
    assert unify_importance(labels)["importance"].tolist() == ["okay", "vital", "okay"]


@pytest.mark.released
def test_nugget_scores_released(mirror, tmp_path):
    path = fetch(CONDENSED, tmp_path, mirror=mirror)
    labels = read_nugget_labels(path)
    scores = nugget_scores(labels.nuggets, labels.responses)
    assert len(scores) == 8127
    assert scores["value"].tolist() == pytest.approx(labels.responses["released"].tolist())


def scored(values):
    """Scores of judges "a", "b", ... of the shape (judges, runs, topics)."""
    rows = [
        ("abc"[judge], "xyzuvw"[run], str(topic), value)
        for (judge, run, topic), value in np.ndenumerate(np.asarray(values, dtype=float))
    ]
    return pd.DataFrame(rows, columns=["judge", "run", "topic", "value"])


@pytest.fixture(scope="module")
def random_scores():
    """Two judges who see the same quality with noise of their own, on 6 runs and 30 topics."""
    dice = np.random.default_rng(3)
    quality = np.linspace(0.2, 0.7, 6)[None, :, None]
    return scored(np.clip(quality + dice.normal(0, 0.2, (2, 6, 30)), 0, 1))


def test_judge_agreement_by_hand():
    # Topic 0: the judges agree on the order; topic 1: they do not; topic 2: "b" sees no difference.
    scores = scored([[[0.1, 0.4, 0.2], [0.3, 0.2, 0.4]], [[0.5, 0.4, 0.3], [0.9, 0.6, 0.3]]])
    result = judge_agreement(scores)
    assert result["judges"].unique().tolist() == ["a and b"]
    value = result.set_index("metric")["value"]
    assert value["mean difference"] == pytest.approx((-0.4 - 0.6 + 0 - 0.4 - 0.1 + 0.1) / 6)
    assert value["mean absolute difference"] == pytest.approx((0.4 + 0.6 + 0 + 0.4 + 0.1 + 0.1) / 6)
    assert value["topics"] == 2 and value["tau in a topic"] == pytest.approx(0)
    assert value["tau, systems"] == pytest.approx(1)


def test_judge_agreement_equals_scipy(random_scores):
    result = judge_agreement(random_scores).set_index("metric")["value"]
    a, b = (random_scores.loc[random_scores["judge"] == judge, "value"] for judge in "ab")
    assert result["pearson, responses"] == pytest.approx(stats.pearsonr(a, b).statistic)
    assert result["tau, responses"] == pytest.approx(stats.kendalltau(a, b).statistic)
    means = random_scores.groupby(["judge", "run"])["value"].mean()
    assert result["tau, systems"] == pytest.approx(
        stats.kendalltau(means["a"], means["b"]).statistic
    )


def test_judge_agreement_order_of_rows(random_scores):
    mixed = random_scores.sample(frac=1, random_state=1).sort_values("judge", kind="stable")
    first, second = judge_agreement(random_scores), judge_agreement(mixed)
    pd.testing.assert_frame_equal(first, second)


def test_judge_agreement_constant_judge():
    value = judge_agreement(scored([[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.5], [0.5, 0.5]]]))
    value = value.set_index("metric")["value"]
    assert value["topics"] == 0
    assert value[["pearson, responses", "tau in a topic", "tau, systems"]].isna().all()


def test_judge_agreement_three_judges():
    scores = scored(np.random.default_rng(0).random((3, 4, 5)))
    pairs = ["a and b", "a and c", "b and c"]
    assert judge_agreement(scores)["judges"].unique().tolist() == pairs
    assert rank_agreement(scores, seed=1, resamples=9)["judges"].tolist() == pairs


def test_rank_agreement_interval(random_scores):
    result, again = (rank_agreement(random_scores, seed=5, resamples=99) for _ in range(2))
    pd.testing.assert_frame_equal(result, again)
    row = result.iloc[0]
    agreed = judge_agreement(random_scores).set_index("metric")["value"]
    assert row["value"] == pytest.approx(agreed["tau, systems"])
    assert -1 <= row["low"] <= row["value"] <= row["high"] <= 1
    assert row["low"] < row["high"]


def test_rank_agreement_copy(random_scores):
    own = random_scores[random_scores["judge"] == "a"]
    both = pd.concat([own, own.assign(judge="b")])
    row = rank_agreement(both, seed=0, resamples=50).iloc[0]
    assert row[["value", "low", "high"]].tolist() == pytest.approx([1, 1, 1])
