"""Effect sizes of an analysis of variance, and their labels in papers.

Chapters of the same thesis give the same omega squared different labels, so a scale of labels is
data (:class:`EffectScale`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray
from everycell.base.errors import require

FloatLike = float | npt.ArrayLike


def omega_squared(f: FloatLike, df: FloatLike, n: FloatLike) -> FloatArray:
    r"""Omega squared of a term, from its F value and the number n of observations.

    .. math:: \omega^2 = \frac{df\,(F - 1)}{df\,(F - 1) + N}

    At most 1, and negative if F < 1: the estimate is not truncated. For one
    term it equals the textbook ``(SS - df * MSE) / (SST + MSE)`` of a one-way design; with several
    terms it is the *partial* form, since the other terms are in neither numerator nor denominator.
    """
    excess = np.asarray(df, dtype=float) * (np.asarray(f, dtype=float) - 1.0)
    with np.errstate(invalid="ignore"):
        share = excess / (excess + np.asarray(n, dtype=float))
    return np.where(np.isposinf(excess), 1.0, share)


def eta_squared(sum_sq: FloatLike, sum_sq_total: FloatLike) -> FloatArray:
    """Eta squared, 0 to 1: a share of the total variation (Cohen 1988, chapter 8)."""
    total = np.asarray(sum_sq_total, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, np.asarray(sum_sq, dtype=float) / total, np.nan)


def partial_eta_squared(sum_sq: FloatLike, sum_sq_resid: FloatLike) -> FloatArray:
    """Partial eta squared, 0 to 1: SS of a term / (SS + residual) (Cohen 1973)."""
    term = np.asarray(sum_sq, dtype=float)
    return eta_squared(term, term + np.asarray(sum_sq_resid, dtype=float))


def cohen_f(f: FloatLike, df_between: FloatLike, df_resid: FloatLike) -> FloatArray:
    r"""Cohen's f of a one-way design, from its F value: :math:`\sqrt{df_A F / df_E}`.

    The square root of (SS between / SS residual), so :math:`f^2 = \eta^2 / (1 - \eta^2)`, without
    an upper bound (Cohen 1988, section 8.2; Sakai 2018, chapter 7).
    """
    f_value = np.asarray(f, dtype=float)
    return np.sqrt(np.asarray(df_between, dtype=float) * f_value / np.asarray(df_resid))


@dataclass(frozen=True)
class EffectScale:
    """Labels of effect sizes, given by cut-points from the highest to the lowest.

    A value is rounded to `decimals` (half to even) before it is compared; a cut-point is inclusive.
    """

    name: str
    cut_points: tuple[tuple[float, str], ...]
    below: str = "-"
    decimals: int = 3
    source: str = ""

    def __post_init__(self) -> None:
        """Reject cut-points that are not in decreasing order."""
        bounds = [bound for bound, _ in self.cut_points]
        is_sorted = bounds and np.isfinite(bounds).all() and (np.diff(bounds) < 0).all()
        expected = "at least one, from the highest to the lowest, without repeats"
        require(is_sorted, "cut_points", bounds, expected)

    def label(self, value: float) -> str:
        """Label of one value; NaN (no such effect in the design) gives ``below``."""
        rounded = np.round(value, self.decimals)
        return next((label for bound, label in self.cut_points if rounded >= bound), self.below)


CULPEPPER = EffectScale(
    name="culpepper",
    cut_points=((0.14, "L"), (0.06, "M"), (0.01, "S")),
    source="Culpepper et al. (2022)",
)
CULPEPPER_ZERO = EffectScale(
    name="culpepper_zero",
    # After rounding, -0.0004 is 0 and so still "S".
    cut_points=((0.14, "L"), (0.06, "M"), (0.0, "S")),
    source="Culpepper et al. (2022), where every value of 0 or more is at least small",
)
EFFECT_SCALES = {scale.name: scale for scale in (CULPEPPER, CULPEPPER_ZERO)}
