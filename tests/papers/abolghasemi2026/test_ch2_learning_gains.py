import numpy as np
import pandas as pd
import pytest
from scipy import stats

from papers.abolghasemi2026.ch2_quality import learning_gains

DICE = np.random.default_rng(3)
TOPICS = [f"q{number}" for number in range(30)]


def values(mean: float) -> pd.DataFrame:
    return pd.DataFrame({"nDCG": DICE.normal(mean, 0.1, len(TOPICS))}, index=TOPICS)


def cells(table: pd.DataFrame, row: str) -> dict[str, float]:
    return table[table["row"] == row].set_index("metric")["value"].to_dict()


def test_learning_gains_paired_test():
    first, second = values(0.4), values(0.5)
    result = cells(learning_gains({"cite": {"a": first, "k": second}}, {"k": "a"}), "k")
    peer = stats.ttest_rel(second["nDCG"], first["nDCG"])
    interval = peer.confidence_interval(0.95)
    assert result["gain in nDCG"] == pytest.approx((second - first)["nDCG"].mean())
    assert result["p"] == pytest.approx(peer.pvalue)
    assert (result["low"], result["high"]) == pytest.approx((interval.low, interval.high))


def test_learning_gains_topic_of_several_tasks():
    both = {"a": values(0.4), "k": values(0.45)}
    once = learning_gains({"cite": both}, {"k": "a"})
    pd.testing.assert_frame_equal(learning_gains({"cite": both, "co-cite": both}, {"k": "a"}), once)
    assert cells(once, "k")["topics"] == len(TOPICS)


def test_learning_gains_single_topic():
    one = values(0.4)[:1]
    with pytest.raises(ValueError, match="at least two"):
        learning_gains({"cite": {"a": one, "k": one}}, {"k": "a"})
