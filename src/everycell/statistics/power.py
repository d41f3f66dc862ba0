"""Power of a one-way ANOVA, and the sample size of the next study from the F value of a pilot.

The method follows Sakai's script ``future.sample.1wayanova`` (SIGIR 2016; Sakai 2018, chapter 7):
Cohen's f from the pilot's F, then the group size at which the noncentral F distribution yields the
desired power. The power is computed by statsmodels' :class:`FTestAnovaPower`, which agrees with R's
``power.anova.test``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from statsmodels.stats.power import FTestAnovaPower

from everycell.base.errors import require
from everycell.statistics.effect_size import cohen_f


@dataclass(frozen=True)
class PowerAnalysis:
    """Effect size and power of a pilot, and the group size that the next study needs."""

    cohen_f: float
    achieved_power: float  #: of the pilot itself, at its effect size
    per_group: float  #: not rounded
    per_group_needed: int


def _check_arguments(groups: int, alpha: float, power: float | None = None) -> None:
    require(groups >= 2 and not groups % 1, "groups", groups, "a whole number, 2 or more")
    require(0 < alpha < 1, "alpha", alpha, "a number between 0 and 1, such as 0.05")
    if power is not None:
        expected = f"a number between alpha ({alpha}) and 1, such as 0.8"
        require(alpha < power < 1, "power", power, expected)


def anova_power(effect: float, groups: int, per_group: float, *, alpha: float = 0.05) -> float:
    """Power of a balanced one-way ANOVA, in [alpha, 1]; `effect` is Cohen's f.

    Noncentral F with :math:`m-1` and :math:`m(n-1)` degrees of freedom and noncentrality
    :math:`m n f^2` (Cohen 1988, chapter 8).
    """
    _check_arguments(groups, alpha)
    require(0 <= effect < math.inf, "effect", effect, "a number of 0 or more")
    require(1 < per_group < math.inf, "per_group", per_group, "more than 1 observation")
    return float(
        FTestAnovaPower().power(effect, nobs=groups * per_group, alpha=alpha, k_groups=groups)
    )


def required_per_group(
    effect: float, groups: int, *, alpha: float = 0.05, power: float = 0.80
) -> float:
    """Group size at which a balanced one-way ANOVA has the desired power.

    Not rounded, and at least 2.
    """
    _check_arguments(groups, alpha, power)
    require(0 < effect < math.inf, "effect", effect, "a number above 0")
    # The solver finds no root if the smallest groups are already large enough.
    if anova_power(effect, groups, 2, alpha=alpha) >= power:
        return 2.0
    total = FTestAnovaPower().solve_power(
        effect_size=effect, alpha=alpha, power=power, k_groups=groups
    )
    return float(total) / groups


def power_from_f(
    f_value: float, groups: int, per_group: int, *, alpha: float = 0.05, power: float = 0.80
) -> PowerAnalysis:
    r"""Sample size of the next study, from the F value of a pilot.

    :math:`\hat f = \sqrt{(m-1) F / (m (n-1))}`, the square root of SS between over SS residual. F
    and n must have the same unit, for example ratings or workers.
    """
    _check_arguments(groups, alpha, power)
    require(0 < f_value < math.inf, "f_value", f_value, "a number above 0")
    require(2 <= per_group < math.inf, "per_group", per_group, "2 observations or more")
    effect = float(cohen_f(f_value, groups - 1, groups * (per_group - 1)))
    required_size = required_per_group(effect, groups, alpha=alpha, power=power)
    return PowerAnalysis(
        cohen_f=effect,
        achieved_power=anova_power(effect, groups, per_group, alpha=alpha),
        per_group=required_size,
        per_group_needed=math.ceil(required_size),
    )
