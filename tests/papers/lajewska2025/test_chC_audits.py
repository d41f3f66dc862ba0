"""Audits of appendix C against scipy."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from papers.lajewska2025.chC_audits import f_statistic


@given(st.integers(1, 100), st.integers(1, 100))
def test_f_statistic_of_votes(first, second):
    groups = ([1] * votes + [0] * (first + second - votes) for votes in (first, second))
    assert f_statistic(first, second) == pytest.approx(stats.f_oneway(*groups).statistic)


def test_f_statistic_without_variance():
    assert f_statistic(30, 0) == f_statistic(0, 30) == math.inf
