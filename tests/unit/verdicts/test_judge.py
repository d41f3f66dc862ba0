"""Comparison of a reproduced value with the published one."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.verdicts.judge import judge

DIGITS = st.integers(0, 6)
STEPS = st.integers(-(10**6), 10**6)
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
ORDER = ("equal", "within tolerance", "different")


@given(NUMBERS, DIGITS)
def test_judge_rounded_value_with_and_without_zeros(value, digits):
    text = f"{value:.{digits}f}"
    short = text.rstrip("0").rstrip(".") if "." in text else text
    assert judge(text, value, digits, measured=True) == "equal"
    assert judge(short or "0", value, digits, measured=True) == "equal"


@given(STEPS, DIGITS, st.booleans())
def test_judge_exact_half(steps, digits, up):
    published = Decimal(steps).scaleb(-digits)
    half = Decimal(5).scaleb(-digits - 1)
    reproduced = float(published + half if up else published - half)
    assert judge(str(published), reproduced, digits, measured=True) == "equal"


@given(
    STEPS,
    DIGITS,
    st.floats(-3, 3).filter(lambda shift: min(abs(abs(shift) - x) for x in (0.5, 1)) > 1e-3),
)
def test_judge_distance_in_units_of_the_last_digit(steps, digits, shift):
    published = Decimal(steps).scaleb(-digits)
    reproduced = float(published + Decimal(shift).scaleb(-digits))
    expected = ORDER[(abs(shift) >= 0.5) + (abs(shift) >= 1)]
    assert judge(str(published), reproduced, digits, measured=True) == expected


@given(STEPS, st.floats(-3, 3).filter(lambda shift: abs(shift) > 1e-3))
def test_judge_count(count, shift):
    assert judge(str(count), count, 0) == "equal"
    assert judge(str(count), count + shift, 0) == "different"


@given(st.integers(-(10**4), 10**4), st.integers(-(10**4), 10**4), st.integers(0, 3))
def test_judge_symmetric(one, other, digits):
    first, second = (Decimal(steps).scaleb(-digits) for steps in (one, other))
    verdict = judge(str(first), float(second), digits)
    assert verdict == judge(str(second), float(first), digits)
    assert verdict == judge(str(-first), -float(second), digits)


@given(NUMBERS, NUMBERS, DIGITS, st.floats(0, 1e6))
def test_judge_tolerance_is_never_worse_or_equal(published, reproduced, digits, within):
    text = f"{published:.{digits}f}"
    without, with_it = judge(text, reproduced, digits), judge(text, reproduced, digits, within)
    assert ORDER.index(with_it) <= ORDER.index(without)
    assert (with_it == "equal") == (without == "equal")
    assert judge(text, reproduced, digits, abs(float(text) - reproduced)) != "different"


@pytest.mark.parametrize(
    ("published", "reproduced", "decimals", "verdict"),
    [
        ("0.0", 0.0005, 3, "equal"),
        ("0.0", 0.00051, 3, "within tolerance"),
        ("0.0", 0.001, 3, "within tolerance"),
        ("0.0", 0.00101, 3, "different"),
        ("0.5", 0.498, 3, "different"),
        ("0.50", 0.504, 2, "equal"),
        ("8841823", 8841823.0, 0, "equal"),
        ("8841823", 8841824, 0, "different"),
        ("1", 0, 0, "different"),
        ("1", 0.6, 0, "different"),
        ("1", "1.0", 0, "equal"),
        ("+8.0", 8.04, 1, "equal"),
        ("-0.02", 0.02, 2, "different"),
        ("2e-5", 0.00002, 5, "equal"),
        ("0.3", "0.3004", 3, "equal"),
        ("S", "S", "text", "equal"),
        ("S", " S ", "text", "equal"),
        ("S", "M", "text", "different"),
        ("-", "-", "text", "equal"),
        ("3", "3.0", "text", "different"),
        ("132_1", "1321", "text", "different"),
        ("1321", "132_1", 0, "different"),
        ("-", 0.0, 3, "different"),
        *(("0.0", value, 3, "different") for value in (math.nan, "nan", math.inf)),
        *(("0.0", value, 3, "different") for value in ("", None, "<0.001")),
        # The next float differs by more than one unit of the 16th decimal.
        ("0.8544543788302492", 0.8544543788302493, 16, "within tolerance"),
        ("0.8544543788302492", 0.8544543788302495, 16, "different"),
        ("0.70000000000000007", math.nextafter(0.7, 1), 17, "equal"),
        ("< .001", 0.0009, 3, "equal"),
        ("< .001", 0.001, 3, "different"),
        ("≤ .001", 0.001, 3, "equal"),
        ("> 0.99", 0.5, 2, "different"),
        ("≥ 0.99", "0.99", 2, "equal"),
        ("< .05", 0.04, "text", "equal"),
        ("< .001", "< .001", "text", "equal"),
        ("< .001", "<0.001", "text", "equal"),
        ("≤ 1e-3", "≤.0010", 3, "equal"),
        ("< .001", "> .001", "text", "different"),
        ("< .001", "< .05", 3, "different"),
        ("< .001", "n.s.", 3, "different"),
    ],
)
def test_judge_cases(published, reproduced, decimals, verdict):
    assert judge(published, reproduced, decimals) == verdict


@pytest.mark.parametrize(
    ("published", "reproduced", "decimals", "options", "verdict"),
    [
        ("0.5", 0.502, 3, {"tolerance": 0.002}, "within tolerance"),
        ("0.5", 0.5021, 3, {"tolerance": 0.002}, "different"),
        ("72", 72.4, 0, {"measured": True}, "equal"),
        ("72", 73, 0, {"measured": True}, "within tolerance"),
        ("72", 73, 0, {}, "different"),
        ("72", 73, 0, {"tolerance": 1}, "within tolerance"),
    ],
)
def test_judge_tolerances_and_measurements(published, reproduced, decimals, options, verdict):
    assert judge(published, reproduced, decimals, **options) == verdict
