"""Agreement of judges: hand-worked examples, scipy on the whole, and what cannot be compared."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from everycell.rag.nuggets import judge_agreement, rank_agreement


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
