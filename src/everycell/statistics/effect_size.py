"""Effect sizes of an analysis of variance, and their labels in papers.

Chapters of the same thesis give the same omega squared different labels, so a scale of labels is
data (:class:`EffectScale`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray

FloatLike = float | npt.ArrayLike


def omega_squared(f: FloatLike, df: FloatLike, n: FloatLike) -> FloatArray:
    r"""Omega squared of a term, from its F value.

    .. math:: \omega^2 = \frac{df\,(F - 1)}{df\,(F - 1) + N}

    Parameters
    ----------
    f : float or array
        F value of the term, 0 or more; infinity gives 1. NaN stays NaN.
    df : float or array
        Degrees of freedom of the term.
    n : float or array
        Number of observations (rows), not of groups.

    Returns
    -------
    numpy.ndarray
        Same shape as the broadcast inputs (0-d for scalars). At most 1, and negative if F < 1: the
        estimate is not truncated.

    Notes
    -----
    Source: lajewska2025, sections 4.2.3 and 7.4 (as computed by the authors, who call it the
    unbiased effect size). For one term it equals the textbook
    ``(SS - df * MSE) / (SST + MSE)`` of a one-way design; with several terms it is the *partial*
    form, since the other terms are in neither numerator nor denominator.

    Examples
    --------
    >>> round(float(omega_squared(31.774, 2, 270)), 3)
    0.186
    >>> float(omega_squared(1.0, 3, 960))
    0.0
    """
    excess = np.asarray(df, dtype=float) * (np.asarray(f, dtype=float) - 1.0)
    with np.errstate(invalid="ignore"):
        share = excess / (excess + np.asarray(n, dtype=float))
    return np.where(np.isposinf(excess), 1.0, share)


def eta_squared(sum_sq: FloatLike, sum_sq_total: FloatLike) -> FloatArray:
    """Eta squared: the share of the total variation that a term explains.

    Parameters
    ----------
    sum_sq : float or array
        Sum of squares of the term.
    sum_sq_total : float or array
        Sum of squares of the response about its mean; 0 gives NaN.

    Returns
    -------
    numpy.ndarray
        In [0, 1] for an ordinary design. Source: Cohen (1988), chapter 8.

    Examples
    --------
    >>> float(eta_squared(2.0, 8.0))
    0.25
    """
    total = np.asarray(sum_sq_total, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, np.asarray(sum_sq, dtype=float) / total, np.nan)


def partial_eta_squared(sum_sq: FloatLike, sum_sq_resid: FloatLike) -> FloatArray:
    """Partial eta squared: a term's share of the sum of its own and the residual variation.

    Parameters
    ----------
    sum_sq : float or array
        Sum of squares of the term.
    sum_sq_resid : float or array
        Residual sum of squares. If both sums are 0, the result is NaN.

    Returns
    -------
    numpy.ndarray
        In [0, 1]. Source: Cohen (1973).

    Examples
    --------
    >>> float(partial_eta_squared(2.0, 6.0))
    0.25
    """
    term = np.asarray(sum_sq, dtype=float)
    return eta_squared(term, term + np.asarray(sum_sq_resid, dtype=float))


def cohen_f(f: FloatLike, df_between: FloatLike, df_resid: FloatLike) -> FloatArray:
    r"""Cohen's f of a one-way design, from its F value: :math:`\sqrt{df_A F / df_E}`.

    Parameters
    ----------
    f : float or array
        F value, 0 or more.
    df_between, df_resid : float or array
        Degrees of freedom of the factor and of the residual.

    Returns
    -------
    numpy.ndarray
        0 or more, without an upper bound; the square root of (SS between / SS residual), so
        :math:`f^2 = \eta^2 / (1 - \eta^2)`. Source: Cohen (1988), section 8.2; Sakai (2018),
        chapter 7.

    Examples
    --------
    First run of the answerability study and the viewpoints study (lajewska2025, chapter 4):

    >>> round(float(cohen_f(1.33, 3, 356)), 2), round(float(cohen_f(31.774, 2, 267)), 2)
    (0.11, 0.49)
    """
    f_value = np.asarray(f, dtype=float)
    return np.sqrt(np.asarray(df_between, dtype=float) * f_value / np.asarray(df_resid))


@dataclass(frozen=True)
class EffectScale:
    """Labels of effect sizes, given by cut-points.

    Parameters
    ----------
    name : str
        Short name of the scale.
    cut_points : tuple of (float, str)
        Lowest value (inclusive) and its label, from the highest cut-point to the lowest.
    below : str
        Label of a value below every cut-point.
    decimals : int
        Number of decimals to which a value is rounded before it is compared (numpy rounding: half
        to even).
    source : str
        Source of the scale.

    Raises
    ------
    ValueError
        If the cut-points do not decrease, or one is not finite.

    Examples
    --------
    >>> CULPEPPER.label(0.1396), CULPEPPER.label(0.0008)
    ('L', '-')
    >>> CULPEPPER_ZERO.label(-0.0004), CULPEPPER_ZERO.label(-0.0006)
    ('S', '-')
    """

    name: str
    cut_points: tuple[tuple[float, str], ...]
    below: str = "-"
    decimals: int = 3
    source: str = ""

    def __post_init__(self) -> None:
        """Reject cut-points that are not in decreasing order."""
        bounds = [bound for bound, _ in self.cut_points]
        if (
            not np.isfinite(bounds).all()
            or not bounds
            or any(a <= b for a, b in zip(bounds, bounds[1:], strict=False))
        ):
            raise ValueError(
                f"The cut-points of effect scale {self.name!r} are {bounds}: give at least one, "
                "ordered from the highest to the lowest, without repeats."
            )

    def label(self, value: float) -> str:
        """Label of one value; NaN (no such effect in the design) gives ``below``."""
        rounded = np.round(value, self.decimals)
        return next((label for bound, label in self.cut_points if rounded >= bound), self.below)

    def labels(self, values: npt.ArrayLike) -> list[str]:
        """Labels of a sequence of values, shape (n,), in the same order."""
        return [self.label(value) for value in np.asarray(values, dtype=float)]


CULPEPPER = EffectScale(
    name="culpepper",
    cut_points=((0.14, "L"), (0.06, "M"), (0.01, "S")),
    source="Culpepper et al. (2022)",
)
"""As used in lajewska2025, section 4.2.3 and Tables 4.8 to 4.12."""
CULPEPPER_ZERO = EffectScale(
    name="culpepper_zero",
    # After rounding, -0.0004 is 0 and so still "S".
    cut_points=((0.14, "L"), (0.06, "M"), (0.0, "S")),
    source="Culpepper et al. (2022), where every value of 0 or more is at least small",
)
"""As used in lajewska2025, Tables 7.4 to 7.6 and C.2."""
EFFECT_SCALES = {scale.name: scale for scale in (CULPEPPER, CULPEPPER_ZERO)}
