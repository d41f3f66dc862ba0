"""Paired t-tests from sums: parity with scipy, and bounds that no pairs break."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from papers.abolghasemi2026.ch5_published import (
    critical_sum_of_squares,
    decide,
    largest_sum_of_squares,
    p_value,
    paired_t,
)

N = 12
VALUES = st.tuples(*(arrays(float, N, elements=st.floats(0, 1, width=16)) for _ in range(2)))
BITS = st.tuples(*(arrays(float, N, elements=st.sampled_from([0.0, 1.0])) for _ in range(2)))


@given(st.one_of(VALUES, BITS))
def test_paired_t_equals_scipy(pair):
    differences = pair[0] - pair[1]
    total, squares = float(differences.sum()), float((differences**2).sum())
    if np.ptp(differences) < 1e-3:
        return
    peer = stats.ttest_rel(*pair)
    result = paired_t(total, squares, N)
    assert result == pytest.approx(float(peer.statistic), rel=1e-6, abs=1e-9)
    assert p_value(result, N) == pytest.approx(float(peer.pvalue), rel=1e-6)


@given(st.one_of(VALUES, BITS))
def test_largest_sum_of_squares_is_upper_bound(pair):
    squares = float(((pair[0] - pair[1]) ** 2).sum())
    assert squares <= largest_sum_of_squares(pair[0].mean(), pair[1].mean(), N) + 1e-9


@given(BITS)
def test_decide_consistent_with_pairs(pair):
    differences = pair[0] - pair[1]
    total, changed = float(differences.sum()), float(np.abs(differences).sum())
    bounds = abs(total), largest_sum_of_squares(pair[0].mean(), pair[1].mean(), N)
    truth = p_value(paired_t(total, changed, N), N) < 0.05
    assert decide((total, total), bounds, N) in ("open", "yes" if truth else "no")
    assert decide((total, total), (changed, changed), N) == ("yes" if truth else "no")


def test_largest_sum_of_squares_reached():
    first, second = np.repeat([1.0, 0.0], [6, 2]), np.repeat([0.0, 1.0], [4, 4])
    assert ((first - second) ** 2).sum() == largest_sum_of_squares(6 / 8, 4 / 8, 8) == 6


def test_critical_sum_of_squares_at_alpha():
    for alpha in (0.01, 0.05):
        edge = critical_sum_of_squares(20, 500, alpha=alpha)
        assert p_value(paired_t(20, edge, 500), 500) == pytest.approx(alpha)


def test_paired_t_no_difference():
    assert paired_t(0, 5, 10) == paired_t(0, 0, 10) == 0
    assert p_value(0, 10) == 1
    assert decide((0, 0), (0, 0), 10) == "no"


def test_paired_t_constant_difference():
    assert paired_t(10, 10, 10) == math.inf
    assert paired_t(-10, 10, 10) == -math.inf
    assert p_value(math.inf, 10) == 0


def test_decide_sign_unknown():
    assert decide((-1, 30), (0.1, 40), 500) == "open"


def test_decide_at_another_level():
    """p = .03: significant at .05 and not at .01, whether the sums are known or bounded."""
    squares = critical_sum_of_squares(5, 30, alpha=0.03)
    assert p_value(paired_t(5, squares, 30), 30) == pytest.approx(0.03)
    assert decide((5, 5), (squares, squares), 30) == "yes"
    assert decide((5, 5), (squares, squares), 30, alpha=0.01) == "no"
    assert decide((5, 5), (squares, squares), 30, alpha=0.1) == "yes"
    assert decide((4, 6), (0.9 * squares, 1.1 * squares), 30, alpha=0.2) == "yes"
