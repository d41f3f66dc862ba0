"""Statistics of the studies: analysis of variance and effect sizes."""

from everycell.statistics.anova import (
    AnovaResults,
    DesignSupport,
    FastAnova,
    RankDeficientDesignWarning,
    anova,
    anova_table,
    design_support,
    supported_anova,
)
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
    "AnovaResults",
    "DesignSupport",
    "FastAnova",
    "design_support",
    "supported_anova",
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
