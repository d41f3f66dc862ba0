"""Simulated lists with planted outliers, which the measures find."""

import numpy as np
import pytest
from scipy import stats

from everycell.fair_ranking.policies import (
    holds_outlier,
    list_outliers,
    outlier_probability,
    uniform,
)
from papers.heuss2025.ch2_training import planted_lists
from papers.heuss2025.data import (
    OUTLIER_FEATURE,
    read_fair_lists,
    split_lists,
    write_fair_lists,
)


@pytest.fixture(scope="module")
def lists():
    """Thirty lists of 20 to 60 items."""
    return split_lists(planted_lists(30, (20, 60), np.random.default_rng(3)))


def test_planted_lists_outliers(lists):
    for items in lists:
        planted = items[OUTLIER_FEATURE] > 5
        assert 2 <= planted.sum() <= 4
        assert items["relevance"][planted].sum() == -(-planted.sum() // 2)
        assert items["relevance"].sum() == -(-len(items) // 3)
        further = np.abs(items[OUTLIER_FEATURE][~planted] - 1)
        assert further.max() < 0.5
    assert {(items[OUTLIER_FEATURE] > 5).sum() for items in lists} == {2, 3, 4}


def test_planted_lists_masked_outliers():
    items = planted_lists(1, (60, 60), np.random.default_rng(5))
    calls = items[OUTLIER_FEATURE].to_numpy()
    planted, further = np.flatnonzero(calls > 5), np.flatnonzero(calls < 5)
    test = holds_outlier(calls)
    one, two = [*planted[:1], *further[:9]], [*planted[:2], *further[:8]]
    assert test(np.array([one, two])).tolist() == [True, False]


def test_planted_lists_random_rankings(lists):
    rng = np.random.default_rng(7)
    values = [items[OUTLIER_FEATURE].to_numpy() for items in lists]
    measured = [
        outlier_probability(uniform(len(calls), 10, samples=2000, rng=rng), calls, displayed=10)
        for calls in values
    ]
    # Probability that ten shown items have exactly one planted item: two hide each other.
    expected = [stats.hypergeom.pmf(1, len(calls), (calls > 5).sum(), 10) for calls in values]
    # Ten items without a planted one hold an outlier by chance in a percent of the cases or two.
    assert np.mean(measured) == pytest.approx(np.mean(expected), abs=0.02)


def test_list_outliers_planted_items(lists):
    for items in lists:
        assert (
            list_outliers(items[OUTLIER_FEATURE].to_numpy())[items[OUTLIER_FEATURE] > 5] > 0
        ).all()


def test_planted_lists_seeds_and_round_trip(tmp_path):
    first, again, other = (planted_lists(2, (5, 9), np.random.default_rng(s)) for s in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    write_fair_lists(first, tmp_path / "lists.csv")
    assert read_fair_lists(tmp_path / "lists.csv").equals(first)
