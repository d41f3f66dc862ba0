"""Re-ranking within the uncertainty of scores: by hand, invariants, what cannot be taken."""

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.fair_ranking.pufr import (
    count_crossing_intervals,
    moved_scores,
    pufr,
    sort_by_moved_scores,
)

NUMBERS = st.floats(-50, 50).map(lambda value: round(value, 1))
SPREADS = st.floats(0, 5).map(lambda value: round(value, 1))


@st.composite
def lists(draw):
    n = draw(st.integers(1, 12))
    return tuple(
        draw(st.lists(kind, min_size=n, max_size=n)) for kind in (NUMBERS, SPREADS, st.booleans())
    )


def by_the_letter(means, deviations, protected, alpha):
    """Algorithm 3 as the thesis writes it, document by document."""
    moved = dict(enumerate(means))
    positions = range(len(means))
    better = sorted((i for i in positions if protected[i]), key=lambda i: (-means[i], i))
    for number, i in enumerate(better):
        cap = min((moved[j] for j in better[:number]), default=np.inf)
        moved[i] = min(means[i] + alpha * deviations[i], cap)
    worse = sorted((i for i in positions if not protected[i]), key=lambda i: (means[i], -i))
    for number, i in enumerate(worse):
        floor = max((moved[j] for j in worse[:number]), default=-np.inf)
        moved[i] = max(means[i] - alpha * deviations[i], floor)
    return [moved[i] for i in positions]


@pytest.mark.compares("moved_scores", "pufr")
@given(lists(), st.floats(0, 10))
def test_moved_scores_equal_algorithm(given_list, alpha):
    means, deviations, protected = given_list
    result = moved_scores(means, deviations, protected, {True: alpha, False: -alpha})
    np.testing.assert_allclose(result, by_the_letter(means, deviations, protected, alpha))


@given(lists(), st.floats(0, 10))
def test_pufr_keeps_order_within_groups(given_list, alpha):
    means, deviations, protected = given_list
    order = pufr(means, deviations, protected, alpha).tolist()
    before = np.argsort(-np.array(means), kind="stable").tolist()
    assert sorted(order) == list(range(len(means)))
    for group in (True, False):
        assert [i for i in order if protected[i] is group] == [
            i for i in before if protected[i] is group
        ]


@given(lists(), st.floats(0, 5), st.floats(0, 5))
def test_pufr_larger_alpha(given_list, alpha, more):
    means, deviations, protected = given_list
    ranks = [
        np.argsort(pufr(means, deviations, protected, value))[np.array(protected)]
        for value in (alpha, alpha + more)
    ]
    assert (ranks[1] <= ranks[0]).all()


@given(lists())
def test_pufr_unchanged(given_list):
    means, deviations, protected = given_list
    before = np.argsort(-np.array(means), kind="stable").tolist()
    assert pufr(means, deviations, protected, 0).tolist() == before
    assert pufr(means, [0.0] * len(means), protected, 3).tolist() == before
    assert pufr(means, deviations, [True] * len(means), 3).tolist() == before
    assert pufr(means, deviations, [False] * len(means), 3).tolist() == before


def test_pufr_alpha_per_group():
    moved = moved_scores(
        [4, 3, 2, 1], [1, 1, 1, 1], ["a", "b", "c", "b"], {"a": 0, "b": 2, "c": -1}
    )
    assert moved.tolist() == [4, 5, 1, 3]
    assert sort_by_moved_scores([4, 3, 2, 1], moved).tolist() == [1, 0, 3, 2]


@pytest.mark.compares("sort_by_moved_scores")
def test_sort_by_moved_scores_ties():
    assert sort_by_moved_scores([1, 2, 2, 2], [3, 3, 3, 4]).tolist() == [3, 1, 2, 0]
    assert pufr([1, 1, 1], [0, 0, 0], [False, True, True], 1).tolist() == [0, 1, 2]


@pytest.mark.compares("count_crossing_intervals")
@given(lists(), st.floats(0, 3))
def test_count_crossing_intervals_pairs(given_list, alpha):
    means, deviations = map(np.array, given_list[:2])
    low, high = means - alpha * deviations, means + alpha * deviations
    meets = (low[:, None] <= high[None]) & (low[None] <= high[:, None])
    assert (
        count_crossing_intervals(means, deviations, alpha).tolist() == (meets.sum(1) - 1).tolist()
    )


@pytest.mark.parametrize(
    ("change", "row", "column", "value"),
    [
        ({"deviations": [0.1, -0.1]}, "document 1", "standard deviation", -0.1),
        ({"deviations": [None, 0.1]}, "document 0", "standard deviation", np.nan),
        ({"means": [np.inf, 1]}, "document 0", "mean", np.inf),
        ({"protected": [True]}, None, "numbers of means, deviations and groups", (2, 2, 1)),
        ({"alpha": -1}, None, "alpha", -1),
        ({"alpha": np.nan}, None, "alpha", np.nan),
    ],
)
def test_pufr_invalid_values(change, row, column, value):
    usual = {"means": [2, 1], "deviations": [0.1, 0.1], "protected": [True, False], "alpha": 1}
    with refused(column, value, row=row):
        pufr(**usual | change)


def test_pufr_infinite_alpha():
    with pytest.raises(DataError, match="^alpha of group (True|False) is -?inf"):
        pufr([2, 1], [0.1, 0.1], [True, False], np.inf)


def test_pufr_missing_alpha():
    with refused("group", "b"):
        moved_scores([1, 2], [1, 1], ["a", "b"], {"a": 1})


def test_count_crossing_intervals_invalid_width():
    with refused("alpha", -1):
        count_crossing_intervals([1.0], [0.1], -1)
