"""Votes for one of two responses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportions_chisquare

from everycell.statistics.preferences import preference_test

OPTIONS = ("new", "old")


def votes(counts: list[tuple[int, int]]) -> tuple[list[str], list[str]]:
    """Items and choices from numbers of votes for both options."""
    items, choices = [], []
    for number, (first, second) in enumerate(counts):
        items += [f"q{number}"] * (first + second)
        choices += ["new"] * first + ["old"] * second
    return items, choices


def test_preference_test_share_of_a_published_table() -> None:
    """Table 6.2 of lajewska2025: 0.60 of 220 votes is marked, 0.55 is not."""
    concise = preference_test(*votes([(3, 2)] * 44), OPTIONS)
    coherent = preference_test(*votes([(121, 99)]), OPTIONS)
    assert concise.share == 0.6 and concise.p == pytest.approx(0.003, abs=1e-4)
    assert coherent.share == 0.55 and coherent.p == pytest.approx(0.138, abs=1e-3)


def test_preference_test_majorities() -> None:
    result = preference_test(*votes([(4, 1), (3, 2), (2, 3), (2, 2), (1, 0)]), OPTIONS)
    assert result[:2] == (20, 0.6)
    assert (result.items, result.won, result.lost, result.tied) == (5, 3, 1, 1)
    assert result.p_items == pytest.approx(2 * 5 / 16)


def test_preference_test_ties_only() -> None:
    result = preference_test(*votes([(2, 2), (1, 1)]), OPTIONS)
    assert (result.share, result.p, result.tied, result.p_items) == (0.5, 1, 2, 1)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_preference_test_swapped_options(counts) -> None:
    items, choices = votes(counts)
    if not choices:
        return
    first = preference_test(items, choices, OPTIONS)
    second = preference_test(items, choices, OPTIONS[::-1])
    assert second.share == pytest.approx(1 - first.share)
    assert second.low == pytest.approx(1 - first.high)
    assert (second.won, second.lost, second.tied) == (first.lost, first.won, first.tied)
    assert second.p == pytest.approx(first.p) and second.p_items == pytest.approx(first.p_items)
    assert first.low - 1e-12 <= first.share <= first.high + 1e-12


@pytest.mark.compares("preference_test")
@given(st.integers(1, 200), st.integers(1, 200))
def test_preference_test_against_statsmodels(first, second) -> None:
    result = preference_test(*votes([(first, second)]), OPTIONS)
    _, p, _ = proportions_chisquare(first, first + second, value=0.5)
    assert result.p == pytest.approx(p)


@pytest.mark.parametrize(
    ("items", "choices", "options", "message"),
    [
        ([], [], OPTIONS, "one vote or more"),
        (["q1"], ["new", "old"], OPTIONS, "have 1 and 2 values"),
        (["q1", "q1"], ["new", "neither"], OPTIONS, "vote 1: choice is 'neither'"),
        (["q1"], ["new"], ("new", "new"), "two different options"),
    ],
)
def test_preference_test_refused(items, choices, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        preference_test(items, choices, options)


def test_preference_test_correlated_votes() -> None:
    """Without a preference, correlated votes mislead the chi-square test, not the sign test."""
    rng = np.random.default_rng(1)
    p_values = []
    for probabilities in rng.beta(1.5, 1.5, (300, 40)):
        items, choices = votes([(n, 5 - n) for n in rng.binomial(5, probabilities)])
        result = preference_test(items, choices, OPTIONS)
        p_values.append((result.p, result.p_items))
    by_votes, by_items = (np.array(p_values) < 0.05).mean(axis=0)
    assert by_votes > 0.12 and by_items < 0.08
    assert stats.binomtest(int(by_items * 300), 300, 0.05, alternative="greater").pvalue > 0.01
