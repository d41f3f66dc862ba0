"""Agreement of judges: hand-worked examples, scipy on the whole, and what cannot be compared."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from everycell.rag.judges import judge_agreement, rank_agreement


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


def test_agreement_by_hand():
    # Topic 0: the judges agree on the order; topic 1: they do not; topic 2: "b" sees no difference.
    scores = scored([[[0.1, 0.4, 0.2], [0.3, 0.2, 0.4]], [[0.5, 0.4, 0.3], [0.9, 0.6, 0.3]]])
    result = judge_agreement(scores)
    assert result["judges"].unique().tolist() == ["a and b"]
    value = result.set_index("metric")["value"]
    assert value["mean difference"] == pytest.approx((-0.4 - 0.6 + 0 - 0.4 - 0.1 + 0.1) / 6)
    assert value["mean absolute difference"] == pytest.approx((0.4 + 0.6 + 0 + 0.4 + 0.1 + 0.1) / 6)
    assert value["topics"] == 2 and value["tau in a topic"] == pytest.approx(0)
    assert value["tau, systems"] == pytest.approx(1)


def test_correlations_are_scipys(random_scores):
    result = judge_agreement(random_scores).set_index("metric")["value"]
    a, b = (random_scores.loc[random_scores["judge"] == judge, "value"] for judge in "ab")
    assert result["pearson, responses"] == pytest.approx(stats.pearsonr(a, b).statistic)
    assert result["tau, responses"] == pytest.approx(stats.kendalltau(a, b).statistic)
    means = random_scores.groupby(["judge", "run"])["value"].mean()
    assert result["tau, systems"] == pytest.approx(
        stats.kendalltau(means["a"], means["b"]).statistic
    )


def test_order_of_the_rows_does_not_matter(random_scores):
    mixed = random_scores.sample(frac=1, random_state=1).sort_values("judge", kind="stable")
    first, second = judge_agreement(random_scores), judge_agreement(mixed)
    pd.testing.assert_frame_equal(first, second)


def test_a_judge_who_sees_no_difference_correlates_with_nobody():
    value = judge_agreement(scored([[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.5], [0.5, 0.5]]]))
    value = value.set_index("metric")["value"]
    assert value["topics"] == 0
    assert value[["pearson, responses", "tau in a topic", "tau, systems"]].isna().all()


def test_three_judges_are_three_pairs():
    scores = scored(np.random.default_rng(0).random((3, 4, 5)))
    pairs = ["a and b", "a and c", "b and c"]
    assert judge_agreement(scores)["judges"].unique().tolist() == pairs
    assert rank_agreement(scores, seed=1, resamples=9)["judges"].tolist() == pairs


def test_the_interval_is_of_the_seed_and_holds_the_agreement(random_scores):
    result, again = (rank_agreement(random_scores, seed=5, resamples=99) for _ in range(2))
    pd.testing.assert_frame_equal(result, again)
    row = result.iloc[0]
    agreed = judge_agreement(random_scores).set_index("metric")["value"]
    assert row["value"] == pytest.approx(agreed["tau, systems"])
    assert -1 <= row["low"] <= row["value"] <= row["high"] <= 1
    assert row["low"] < row["high"]


def test_a_judge_agrees_with_its_own_copy_in_every_sample(random_scores):
    own = random_scores[random_scores["judge"] == "a"]
    both = pd.concat([own, own.assign(judge="b")])
    row = rank_agreement(both, seed=0, resamples=50).iloc[0]
    assert row[["value", "low", "high"]].tolist() == pytest.approx([1, 1, 1])


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda s: s[s["judge"] == "a"], "only judge is .'a'."),
        (lambda s: pd.concat([s, s.iloc[:1]]), "Judge 'a', run 'x', topic '0' has two scores"),
        (lambda s: s.iloc[:-1], "Judge 'b' has no score for run 'y' on topic '1'"),
        (
            lambda s: s.assign(value=s["value"].where(s.index != 0)),
            "Judge 'a' has no score for run",
        ),
    ],
)
@pytest.mark.parametrize(
    "measure", [judge_agreement, lambda scores: rank_agreement(scores, seed=0)]
)
def test_scores_that_cannot_be_compared_are_named(measure, alter, message):
    with pytest.raises(ValueError, match=message):
        measure(alter(scored([[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]]])))


def test_one_topic_has_no_interval():
    with pytest.raises(ValueError, match="There is only one topic"):
        rank_agreement(scored([[[0.1], [0.2]], [[0.3], [0.4]]]), seed=0)
