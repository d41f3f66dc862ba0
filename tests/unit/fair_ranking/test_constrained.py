"""The best ranking that is fair enough: all orders of small lists, and the integer program."""

from itertools import permutations

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.fair_ranking.constrained import (
    best_by_assignment,
    best_by_integer_program,
    reciprocal_fairr,
    reciprocal_nfairr,
    scale_scores,
)

LISTS = st.lists(
    st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.sampled_from([0, 0.5, 1])),
    min_size=1,
    max_size=6,
)
SHARES = st.sampled_from([0, 0.5, 0.8, 0.9, 1])


def enumerated(scores, neutral, share):
    """Largest utility of a fair enough order, by trying all."""
    discounts = 1 / np.log2(np.arange(2, len(scores) + 2))
    floor = share * reciprocal_fairr(sorted(neutral, reverse=True), len(scores)) - 1e-9
    return max(
        scores[list(order)] @ discounts
        for order in permutations(range(len(scores)))
        if reciprocal_fairr(neutral[list(order)], len(scores)) >= floor
    )


@pytest.mark.compares("best_by_integer_program")
@settings(max_examples=40, deadline=None)
@given(LISTS, SHARES)
def test_best_by_integer_program_equals_enumeration(documents, share):
    scores, neutral = map(np.array, zip(*documents, strict=True))
    result = best_by_integer_program(scores, neutral, share)
    assert result.utility == pytest.approx(enumerated(scores, neutral, share))
    assert result.loss == pytest.approx(0, abs=1e-6)


@pytest.mark.compares("best_by_assignment")
@settings(deadline=None)
@given(LISTS, SHARES)
def test_best_by_assignment_bound(documents, share):
    scores, neutral = map(np.array, zip(*documents, strict=True))
    result = best_by_assignment(scores, neutral, share)
    best = enumerated(scores, neutral, share)
    assert sorted(result.ranking) == list(range(len(scores)))
    if neutral.any():
        assert reciprocal_nfairr(neutral[result.ranking], len(scores)) >= share - 1e-8
    assert result.utility <= best + 1e-9 <= result.bound + 1e-8
    assert 0 <= result.loss <= 1


def test_best_by_assignment_long_list():
    rng = np.random.default_rng(2)
    scores = scale_scores(rng.normal(size=50))
    neutral = (rng.random(50) < 0.7).astype(float)
    neutral[np.argsort(-scores)[:5]] = 0
    for share in (0.8, 0.9, 0.95):
        result = best_by_assignment(scores, neutral, share)
        assert reciprocal_nfairr(neutral[result.ranking], 50) >= share
        assert result.loss < 0.002


@pytest.mark.compares("scale_scores")
def test_scale_scores_order():
    result = scale_scores([-3.0, 5.0, 1.0])
    assert result.argsort().tolist() == [0, 2, 1] and result.max() == 1 and 0 < result.min() < 1e-4
    assert scale_scores([2.0, 2.0]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("solve", [best_by_assignment, best_by_integer_program])
@pytest.mark.parametrize(
    ("arguments", "row", "column", "value"),
    [
        (([1, 2], [1], 0.5), None, "numbers of scores and neutralities", (2, 1)),
        (([], [], 0.5), None, "numbers of scores and neutralities", (0, 0)),
        (([-1, 2], [1, 0], 0.5), None, "score", -1),
        (([1, 2], [2, 0], 0.5), "rank 1", "neutrality", 2),
        (([1, 2], [1, 0], 1.5), None, "share", 1.5),
    ],
)
def test_constrained_invalid_values(solve, arguments, row, column, value):
    with refused(column, value, row=row):
        solve(*arguments)


@pytest.mark.parametrize("neutral", [[0, 0, 0], [1, 1, 1]])
def test_best_by_assignment_one_group(neutral):
    assert best_by_assignment([0.1, 0.9, 0.5], neutral, 1.0).ranking.tolist() == [1, 2, 0]


def test_reciprocal_nfairr_range():
    assert reciprocal_nfairr([1, 1, 0], 2) == 1
    assert reciprocal_nfairr([0, 1], 1) == 0
    assert np.isnan(reciprocal_nfairr([0, 0], 2))
    assert reciprocal_fairr([1, 1], 10) == 1.5
    with refused("neutrality", 2, row="rank 2"):
        reciprocal_fairr([1, 2], 2)
    with refused("cutoff", 0):
        reciprocal_nfairr([1], 0)


def test_best_by_assignment_many_equal_scores():
    """Without a binding constraint, equal scores keep their order."""
    result = best_by_assignment([0.5, 0.9] * 50, [1.0] * 100, 0.5)
    assert result.ranking.tolist() == [*range(1, 100, 2), *range(0, 100, 2)]
