"""Statistics of the studies: analysis of variance and effect sizes."""

from everycell.statistics.anova import RankDeficientDesignWarning, anova, anova_table
from everycell.statistics.effect_size import (
    CULPEPPER,
    CULPEPPER_ZERO,
    EFFECT_SCALES,
    EffectScale,
    cohen_f,
    eta_squared,
    omega_squared,
    partial_eta_squared,
)

__all__ = [
    "CULPEPPER",
    "CULPEPPER_ZERO",
    "EFFECT_SCALES",
    "EffectScale",
    "RankDeficientDesignWarning",
    "anova",
    "anova_table",
    "cohen_f",
    "eta_squared",
    "omega_squared",
    "partial_eta_squared",
]
