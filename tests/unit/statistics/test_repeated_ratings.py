"""Repeated ratings per person: a worked example, identities, false positives."""

import numpy as np
import pandas as pd
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from everycell.statistics.anova import (
    anova,
    cluster_means_anova,
    intraclass_correlation,
    random_intercept_p,
)

#: Four judges rate six targets: Table 2 of Shrout and Fleiss (1979), where ICC(1,1) is .17.
SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]


def study(seed: int, effect: float = 0.0, sd: float = 1.0, workers: int = 40) -> pd.DataFrame:
    """Ten ratings of each worker, who saw one of two conditions."""
    rng = np.random.default_rng(seed)
    worker = np.repeat(np.arange(workers), 10)
    calls = worker % 2
    rating = sd * rng.normal(size=workers)[worker] + rng.normal(size=len(worker)) + effect * calls
    return pd.DataFrame({"worker": worker, "mode": calls, "rating": rating})


@pytest.mark.compares("intraclass_correlation")
def test_intraclass_correlation_of_the_example_of_shrout_and_fleiss():
    values = pd.Series(np.ravel(SHROUT_FLEISS).astype(float))
    assert intraclass_correlation(values, pd.Series(np.repeat(range(6), 4))) == pytest.approx(
        0.1657, abs=1e-4
    )


@pytest.mark.parametrize("groups", [["a", "a", "a"], ["a", "b", "c"]])
def test_intraclass_correlation_needs_groups_and_repetition(groups):
    with refused("groups"):
        intraclass_correlation(pd.Series([1.0, 2, 3]), pd.Series(groups))


@given(st.integers(0, 1000), st.floats(-5, 5), st.floats(0.1, 10))
@settings(max_examples=30, deadline=None)
def test_intraclass_correlation_does_not_depend_on_scale_and_origin(seed, shift, scale):
    frame = study(seed)
    first = intraclass_correlation(frame["rating"], frame["worker"])
    again = intraclass_correlation(frame["rating"] * scale + shift, frame["worker"])
    assert first == pytest.approx(again, abs=1e-9) and first <= 1


@pytest.mark.compares("random_intercept_p", "cluster_means_anova")
@pytest.mark.parametrize("seed", range(3))
def test_random_intercept_p_equals_anova_of_means(seed):
    frame = study(seed, effect=0.5)
    f = cluster_means_anova(frame, "rating", "mode", "worker")["F"]
    p = random_intercept_p(frame, "rating", "mode", "worker")
    assert p == pytest.approx(stats.chi2.sf(f, 1), rel=1e-3)


@pytest.mark.slow
def test_cluster_means_anova_false_positives():
    """100 studies without an effect, at alpha 0.05."""
    frames = [study(seed, sd=0.77) for seed in range(100)]
    ratings = np.mean([anova(f, "rating", ["mode"]).loc["mode", "p"] < 0.05 for f in frames])
    means = np.mean(
        [cluster_means_anova(f, "rating", "mode", "worker")["p"] < 0.05 for f in frames]
    )
    assert ratings > 0.2 and means < 0.1


def test_cluster_means_anova_varying_factor():
    frame = study(0).assign(query=lambda rows: rows.groupby("worker").cumcount())
    with refused("query", row="worker 0"):
        cluster_means_anova(frame, "rating", "query", "worker")
    assert 0 <= random_intercept_p(frame, "rating", "query", "worker") <= 1


def test_intraclass_correlation_constant_groups():
    frame = study(0)
    frame["rating"] = frame.groupby("worker")["rating"].transform("mean")
    assert intraclass_correlation(frame["rating"], frame["worker"]) == pytest.approx(1)


def test_intraclass_correlation_of_unequal_groups_by_hand():
    """Means 2, 6, 6 of 2, 3, 4 values: 12.444 between, 2.333 within, a mean size of 2.889."""
    values = pd.Series([1.0, 3, 4, 6, 8, 5, 5, 7, 7])
    groups = pd.Series(list("aabbbcccc"))
    between, within, size = 12.4444, 14 / 6, (9 - 29 / 9) / 2
    expected = (between - within) / (between + (size - 1) * within)
    assert intraclass_correlation(values, groups) == pytest.approx(expected, abs=1e-4)


def test_cluster_means_anova_equals_scipy_of_unequal_clusters():
    frame = study(1, effect=0.5, workers=9).drop(index=range(5, 22))
    means = frame.groupby("worker").mean()
    expected = stats.f_oneway(*(part["rating"] for _, part in means.groupby("mode")))
    result = cluster_means_anova(frame, "rating", "mode", "worker")
    assert (result["F"], result["p"]) == pytest.approx((expected.statistic, expected.pvalue))
