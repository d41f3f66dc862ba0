"""Power analysis: the facts of the two studies, and its limits."""

import pytest
from data_errors import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from everycell.statistics.power import anova_power, power_from_f, required_per_group


@pytest.mark.parametrize(("f_value", "workers"), [(2.145, 16), (0.578, 56)])
def test_power_from_f_chapter_7(f_value, workers):
    assert power_from_f(f_value, groups=2, per_group=5).per_group_needed == workers


def test_power_from_f_all_ratings():
    """F was computed over 50 ratings a condition; with that n the answers are 181 and 667."""
    needed = [power_from_f(f, groups=2, per_group=50).per_group_needed for f in (2.145, 0.578)]
    assert needed == [181, 667]


@pytest.mark.parametrize(
    ("f_value", "groups", "per_group", "effect"),
    [
        (1.33, 4, 90, 0.11),  # all ratings, as printed
        (31.77, 3, 90, 0.49),
        (1.33, 4, 9, 0.35),  # the n that the authors' notes name
        (31.77, 3, 9, 1.63),
    ],
)
def test_power_from_f_chapter_4(f_value, groups, per_group, effect):
    assert round(power_from_f(f_value, groups, per_group).cohen_f, 2) == effect


def test_power_of_chapter_4():
    assert power_from_f(31.77, 3, 90).achieved_power > 0.999
    assert power_from_f(1.33, 4, 90).achieved_power == pytest.approx(0.36, abs=0.005)


@given(
    effect=st.floats(0.08, 1.0),
    groups=st.integers(2, 10),
    power=st.sampled_from([0.7, 0.8, 0.95]),
)
def test_required_per_group_reaches_power(effect, groups, power):
    needed = required_per_group(effect, groups, power=power)
    assert anova_power(effect, groups, needed) == pytest.approx(power, abs=1e-5)


def test_anova_power_no_effect():
    assert anova_power(0.0, 3, 20, alpha=0.05) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("call", "column", "value"),
    [
        (lambda: power_from_f(0.0, 2, 5), "f_value", 0),
        (lambda: power_from_f(2.0, 2, 1), "per_group", 1),
        (lambda: power_from_f(2.0, 1, 5), "groups", 1),
        (lambda: power_from_f(2.0, 2, 5, alpha=5), "alpha", 5),
        (lambda: power_from_f(2.0, 2, 5, power=80), "power", 80),
        (lambda: required_per_group(-0.1, 2), "effect", -0.1),
        (lambda: anova_power(0.2, 2, 1), "per_group", 1),
    ],
)
def test_power_invalid_values(call, column, value):
    with refused(column, value):
        call()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_power_from_f_equals_noncentral_f(alpha):
    """F = 2.5 of three groups of 20: f² = 2 F / 57, and the noncentrality is 60 f²."""
    result = power_from_f(2.5, groups=3, per_group=20, alpha=alpha, power=0.9)
    critical = stats.f.isf(alpha, 2, 57)
    assert result.achieved_power == pytest.approx(stats.ncf.sf(critical, 2, 57, 60 * 5 / 57))
    # The smallest whole group size with a power of .9.
    powers = [
        stats.ncf.sf(stats.f.isf(alpha, 2, 3 * n - 3), 2, 3 * n - 3, 3 * n * 5 / 57)
        for n in (result.per_group_needed - 1, result.per_group_needed)
    ]
    assert powers[0] < 0.9 <= powers[1]


def test_required_per_group_totals_of_the_authors():
    totals = [round(m * required_per_group(f, m), 2) for m in (4, 3) for f in (0.1, 0.4)]
    assert totals == [1094.17, 72.17, 966.47, 63.31]  # lajewska2025: four and three conditions
    assert required_per_group(5.0, groups=2) == 2
