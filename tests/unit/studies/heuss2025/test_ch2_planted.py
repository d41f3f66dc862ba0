"""Simulated lists with planted outliers: what was planted is what is measured."""

import numpy as np
import pytest
from scipy import stats

from everycell.collections.fair_ranking_lists import (
    OUTLYING,
    read_fair_lists,
    split_lists,
    write_fair_lists,
)
from everycell.fair_ranking.exposure_measures import (
    holds_outlier,
    list_outliers,
    outlier_probability,
)
from everycell.fair_ranking.policies import uniform
from everycell.studies.heuss2025.ch2.planted_lists import planted_lists


@pytest.fixture(scope="module")
def lists():
    """Thirty lists of 20 to 60 items."""
    return split_lists(planted_lists(30, (20, 60), np.random.default_rng(3)))


def test_a_list_has_two_to_four_outliers_of_which_half_are_relevant(lists):
    for items in lists:
        planted = items[OUTLYING] > 5
        assert 2 <= planted.sum() <= 4
        assert items["relevance"][planted].sum() == -(-planted.sum() // 2)
        assert items["relevance"].sum() == -(-len(items) // 3)
        others = np.abs(items[OUTLYING][~planted] - 1)
        assert others.max() < 0.5
    assert {(items[OUTLYING] > 5).sum() for items in lists} == {2, 3, 4}


def test_one_outlier_is_seen_and_two_hide_each_other():
    items = planted_lists(1, (60, 60), np.random.default_rng(5))
    seen = items[OUTLYING].to_numpy()
    planted, others = np.flatnonzero(seen > 5), np.flatnonzero(seen < 5)
    test = holds_outlier(seen)
    one, two = [*planted[:1], *others[:9]], [*planted[:2], *others[:8]]
    assert test(np.array([one, two])).tolist() == [True, False]


def test_random_rankings_show_an_outlier_as_often_as_counting_says(lists):
    rng = np.random.default_rng(7)
    values = [items[OUTLYING].to_numpy() for items in lists]
    measured = [
        outlier_probability(uniform(len(seen), 10, samples=2000, rng=rng), seen, displayed=10)
        for seen in values
    ]
    # Probability that ten shown items have exactly one planted item: two hide each other.
    expected = [stats.hypergeom.pmf(1, len(seen), (seen > 5).sum(), 10) for seen in values]
    # Ten items without a planted one hold an outlier by chance in a percent of the cases or two.
    assert np.mean(measured) == pytest.approx(np.mean(expected), abs=0.02)


def test_of_whole_lists_the_planted_items_are_the_outliers(lists):
    for items in lists:
        assert (list_outliers(items[OUTLYING].to_numpy())[items[OUTLYING] > 5] > 0).all()


def test_another_seed_draws_other_lists_and_a_file_keeps_them(tmp_path):
    first, again, other = (planted_lists(2, (5, 9), np.random.default_rng(s)) for s in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    write_fair_lists(first, tmp_path / "lists.csv")
    assert read_fair_lists(tmp_path / "lists.csv").equals(first)
