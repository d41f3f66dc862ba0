"""Audits of chapter 6 and appendix C against scipy."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from papers.lajewska2025.ch6_audits import vote_p
from papers.lajewska2025.chC_audits import f_statistic, tau_p


@given(st.integers(1, 100), st.integers(1, 100))
def test_f_statistic_of_votes(first, second):
    groups = ([1] * votes + [0] * (first + second - votes) for votes in (first, second))
    assert f_statistic(first, second) == pytest.approx(stats.f_oneway(*groups).statistic)


def test_f_statistic_without_variance():
    assert f_statistic(30, 0) == f_statistic(0, 30) == math.inf


@given(st.integers(1, 200), st.integers(1, 200))
def test_vote_p_of_both_forms(first, second):
    votes = first + second
    assert vote_p(first, votes) == pytest.approx(stats.chisquare([first, second]).pvalue)
    table = [[first, second], [second, first]]
    expected = stats.chi2_contingency(table, correction=False).pvalue
    assert vote_p(first, votes, mirrored=True) == pytest.approx(expected)


def test_tau_p_normal_approximation():
    first = list(range(88))
    second = sorted(first, key=lambda value: value * 37 % 89)
    result = stats.kendalltau(first, second, method="asymptotic")
    assert 0.01 < result.pvalue < 0.99
    assert tau_p(result.statistic, 88) == pytest.approx(result.pvalue, rel=1e-6)
