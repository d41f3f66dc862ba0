"""Several ratings per person: their intraclass correlation, and tests that account for it.

A test over ratings treats the ratings of a person as independent. If each person saw only one
condition, such a test counts the same opinion several times and reports spurious effects.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import patsy
import statsmodels.api as sm
from scipy import stats
from statsmodels.tools.sm_exceptions import ConvergenceWarning

from everycell.statistics.anova import anova
from everycell.statistics.designs import check_factors, check_response, factor_frame


def intraclass_correlation(values: pd.Series, groups: pd.Series) -> float:
    """Intraclass correlation ICC(1): similarity of the values within a group.

    NaN if all values are the same. For groups of unequal size, the formula uses the mean size,
    corrected for the spread of the sizes.
    """
    grouped = values.astype(float).groupby(groups.to_numpy())
    sizes = grouped.size()
    n, k = int(sizes.sum()), len(sizes)
    if k < 2 or n <= k:
        raise ValueError(
            f"There are {n} values in {k} groups; give two groups or more, with two values or more "
            "in at least one of them."
        )
    within_groups = float(((values - grouped.transform("mean")) ** 2).sum()) / (n - k)
    weighted_squares = sizes * (grouped.mean() - values.mean()) ** 2
    between_groups = float(weighted_squares.sum()) / (k - 1)
    size = (n - float((sizes**2).sum()) / n) / (k - 1)
    total = between_groups + (size - 1) * within_groups
    return (between_groups - within_groups) / total if total else float("nan")


def cluster_means_anova(data: pd.DataFrame, response: str, factor: str, cluster: str) -> pd.Series:
    """One-way ANOVA of a factor over the means of clusters, such as workers."""
    check_factors(data, [factor])
    check_response(data, response, [factor])
    levels = data.groupby(cluster)[factor].nunique()
    if (levels > 1).any():
        raise ValueError(
            f"The {cluster} {levels.idxmax()!r} has {levels.max()} levels of {factor!r}: choose a "
            f"factor with one level per {cluster}, or a mixed model."
        )
    means = data.groupby(cluster).agg({response: "mean", factor: "first"})
    return anova(means, response, [factor]).loc[factor]


def random_intercept_p(data: pd.DataFrame, response: str, factor: str, cluster: str) -> float:
    """P-value of a factor's Wald test in a mixed model with a random intercept per cluster.

    NaN if the model cannot be fitted because the ratings within each cluster are identical.
    """
    check_factors(data, [factor])
    values = check_response(data, response, [factor])
    design = np.asarray(patsy.dmatrix("C(f0)", factor_frame(data, [factor])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            model = sm.MixedLM(values, design, groups=data[cluster].to_numpy()).fit(reml=True)
            effects = model.fe_params[1:]
            covariance = np.asarray(model.cov_params())[1 : len(design.T), 1 : len(design.T)]
            statistic = float(effects @ np.linalg.solve(covariance, effects))
        except np.linalg.LinAlgError:
            return float("nan")
    return float(stats.chi2.sf(statistic, len(effects)))
