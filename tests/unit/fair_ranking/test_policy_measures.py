"""Measures of policies: exact fractions by hand, pytrec_eval's NDCG, bad inputs."""

import math

import numpy as np
import pytest
import pytrec_eval
from data_errors import refused
from hypothesis import example, given, settings
from hypothesis import strategies as st

from everycell.fair_ranking.policies import (
    Policy,
    deterministic,
    exposure_error,
    holds_outlier,
    list_outliers,
    outlier_probability,
    outlierness_published,
    outlierness_released,
    plackett_luce,
    policy_ndcg,
    z_scores,
)


@pytest.mark.compares("exposure_error")
def test_exposure_error_by_hand():
    # 3 to give out, 2/3 and 1/3 of it wanted: off by 1/2 twice.
    assert exposure_error([1.5, 1.5], [2, 1]) == 0.5
    assert exposure_error([2.0, 1.0], [2, 1]) == 0


@pytest.mark.compares("policy_ndcg")
def test_policy_ndcg_equals_pytrec_eval():
    rng = np.random.default_rng(0)
    relevance = rng.integers(0, 2, 12)
    relevance[0] = 1
    policy = plackett_luce(np.ones(12), 10, samples=20, rng=rng)
    judged = {"q": {f"d{item:02}": int(grade) for item, grade in enumerate(relevance)}}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.5,10"})
    for cutoff in (5, 10):
        values = [
            evaluator.evaluate({"q": {f"d{item:02}": 1.0 - 0.01 * r for r, item in enumerate(row)}})
            for row in policy.rankings.tolist()
        ]
        expected = np.mean([value["q"][f"ndcg_cut_{cutoff}"] for value in values])
        assert policy_ndcg(policy, relevance, cutoff) == pytest.approx(expected, abs=1e-6)


def test_policy_ndcg_exponential_gains():
    policy = deterministic([1, 2], 2)
    best, other = 2**2 - 1, 2**1 - 1
    expected = (other + best / math.log2(3)) / (best + other / math.log2(3))
    assert policy_ndcg(policy, [2, 1], 2) == pytest.approx(expected)


#: Nine items at 0 and one at 1: distance 3 of one, -1/3 of the others.
SCORES = [0.0] * 9 + [1.0, 5.0]


@pytest.mark.compares("z_scores", "holds_outlier", "outlierness_published", "outlierness_released")
def test_outlierness_by_hand():
    policy = Policy(np.array([list(range(10)), [*range(9), 10]]), np.array([0.25, 0.75]))
    assert z_scores(SCORES[:10])[9] == pytest.approx(3)
    assert outlier_probability(policy, SCORES) == 1
    assert outlier_probability(policy, SCORES, displayed=9) == 0
    assert outlierness_published(policy, SCORES) == pytest.approx(3)
    # Absolute distances are 3 and nine times 1/3: the one is 3 from them again; over ten ranks.
    assert outlierness_released(policy, SCORES) == pytest.approx(3 / 10)
    assert list_outliers(SCORES).tolist()[:10] == [0] * 10
    assert list_outliers(SCORES)[10] > 2.5


def test_outlierness_published_low_outlier():
    policy = Policy(np.arange(10)[None], np.ones(1))
    scores = [0.0] * 9 + [-1.0]
    assert outlier_probability(policy, scores) == 1
    assert outlierness_published(policy, scores) == pytest.approx(-3)
    assert outlierness_released(policy, scores) == pytest.approx(3 / 10)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=7))
@example([0.0, 5.892116901951502e-167])
@example([0.0, 5e-324])
@settings(max_examples=50, deadline=None)
def test_holds_outlier_seven_items(scores):
    ranking = np.arange(len(scores))[None]
    assert not holds_outlier(scores)(ranking).any()


@pytest.mark.parametrize("value", [0.0, 0.1, 1e100])
def test_holds_outlier_equal_scores(value):
    scores = [value] * 10
    assert z_scores(scores).tolist() == [0] * 10
    assert not holds_outlier(scores)(np.arange(10)[None]).any()


def test_policy_measures_invalid_values():
    policy = deterministic([2, 1], 2)
    with refused("list", fault="of 2 items has no relevant item"):
        exposure_error([1, 1], [0, 0])
    with refused("list", fault="of 2 items has no relevant item"):
        policy_ndcg(policy, [0, 0], 1)
    with refused("relevance", -1):
        exposure_error([1, 1], [1, -1])
    with refused("number of exposures", 3):
        exposure_error([1, 1, 1], [1, 0])
    with refused("cutoff", 0):
        policy_ndcg(policy, [1, 0], 0)
    with refused("score", float("inf")):
        outlier_probability(policy, [1, float("inf")])
