"""Effect sizes and the scales that name them."""

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given
from hypothesis import strategies as st

from everycell.statistics.effect_size import (
    EFFECT_SCALES,
    EffectScale,
    cohen_f,
    eta_squared,
    omega_squared,
    partial_eta_squared,
)


def test_omega_squared_of_printed_f_values():
    # One-way F values that the authors list for the viewpoints study (N = 270, df = 2).
    f = np.array([31.774, 21.751, 17.514, 17.687])
    np.testing.assert_allclose(omega_squared(f, 2, 270).round(3), [0.186, 0.133, 0.109, 0.110])


@pytest.mark.parametrize(
    ("value", "chapter_4", "chapter_7"),
    [
        (0.1395, "L", "L"),
        (0.1394, "M", "M"),
        (0.0595, "M", "M"),
        (0.0594, "S", "S"),
        (0.0096, "S", "S"),
        (0.0094, "-", "S"),
        (0.0008, "-", "S"),
        (0.0, "-", "S"),
        (-0.0004, "-", "S"),
        (-0.0006, "-", "-"),
        (np.nan, "-", "-"),
    ],
)
def test_effect_scale_labels(value, chapter_4, chapter_7):
    assert EFFECT_SCALES["culpepper"].label(value) == chapter_4
    assert EFFECT_SCALES["culpepper_zero"].label(value) == chapter_7


@pytest.mark.parametrize("cut_points", [(), ((0.01, "S"), (0.06, "M")), ((0.1, "a"), (0.1, "b"))])
def test_effect_scale_wrong_order(cut_points):
    with refused("cut_points", [bound for bound, _ in cut_points]):
        EffectScale(name="odd", cut_points=cut_points)


def test_eta_squared_no_variation():
    assert np.isnan(eta_squared(0.0, 0.0))
    assert np.isnan(partial_eta_squared(0.0, 0.0))


@given(
    f=st.floats(0, 1e4),
    df=st.integers(1, 30),
    df_resid=st.integers(1, 2000),
)
def test_effect_sizes_consistent(f, df, df_resid):
    n = df + df_resid + 1
    # One-way design with residual sum of squares 1.
    sum_sq = f * df / df_resid
    eta = partial_eta_squared(sum_sq, 1.0)
    assert 0 <= eta < 1
    assert cohen_f(f, df, df_resid) ** 2 == pytest.approx(eta / (1 - eta), rel=1e-6, abs=1e-12)
    # Omega squared corrects eta squared downwards, and never reaches 1.
    assert omega_squared(f, df, n) < eta + 1e-12
    assert (omega_squared(f, df, n) < 0) == (f < 1)
