"""Statistics of the studies: analysis of variance, effect sizes, tests, power, simulation."""

from everycell.statistics.anova import (
    AnovaResults,
    DesignSupport,
    FastAnova,
    RankDeficientDesignWarning,
    anova,
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
from everycell.statistics.hypothesis_tests import pearson, t_tests
from everycell.statistics.power import (
    PowerAnalysis,
    anova_power,
    power_from_f,
    required_per_group,
)
from everycell.statistics.simulation import (
    UserStudy,
    answerability_study,
    rejection_rates,
    simulate_ratings,
    transparency_study,
    viewpoints_study,
)

__all__ = [
    "AnovaResults",
    "CULPEPPER",
    "CULPEPPER_ZERO",
    "DesignSupport",
    "EFFECT_SCALES",
    "EffectScale",
    "FastAnova",
    "PowerAnalysis",
    "RankDeficientDesignWarning",
    "UserStudy",
    "anova",
    "anova_power",
    "answerability_study",
    "cohen_f",
    "design_support",
    "eta_squared",
    "omega_squared",
    "partial_eta_squared",
    "pearson",
    "power_from_f",
    "rejection_rates",
    "required_per_group",
    "simulate_ratings",
    "supported_anova",
    "t_tests",
    "transparency_study",
    "viewpoints_study",
]
