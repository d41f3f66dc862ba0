"""Analysis of variance of categorical designs.

- :func:`anova`: one response, computed by statsmodels unless the design has empty cells;
- :class:`FastAnova`: many responses on the same design (simulations), with the same numbers;
- :func:`supported_cells`: comparison of nested models, also valid for designs with empty cells. The
  sum of squares of a term is the decrease of the residual sum of squares, and its ``df`` are the
  increase in rank; both are independent of codings and of the names of levels. A term that cannot
  be separated from the others has a ``df`` of 0. Equal to R's ``anova`` (type I) and
  ``car::Anova`` (type II), if the terms that are tested against each other are connected.

Designs with empty cells
------------------------
If cells of the design are empty, some columns of the design matrix are sums of others, and the
coefficients are not unique. statsmodels then uses the coefficients with minimum norm (a
pseudo-inverse), which distributes an effect evenly over the indistinguishable columns. For example,
if no response is balanced without being diverse, the columns "balance" and "diversity:balance" are
identical. The type II test of balance then compares two coefficients that are equal by
construction: 0/0, reported as p = 1, while the effect of balance appears in the interaction row.

In floating point, this 0/0 is a ratio of rounding errors. statsmodels returns F = 0 and p = 1 for
the released files, but different F values for 32 of 200 random orders of the same rows, with p down
to 1e-108. This module sets values that are zero up to rounding to zero, so that such a test always
has F = 0 and p = 1; everything else is statsmodels' minimum-norm solution. On designs with empty
cells, this solution depends on the coding (treatment coding with the first level in sorted order as
the reference, as in statsmodels), so it changes if levels are renamed. A warning says whether a
design is affected; :func:`supported_cells` has the result of R, which is independent of the coding.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import patsy
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.anova import anova_lm
from statsmodels.tools.sm_exceptions import ConvergenceWarning

from everycell.base.errors import DataError, require
from everycell.statistics.effect_size import EffectScale
from everycell.statistics.fast_anova import (
    AnovaResults,
    FastAnova,
    Interactions,
    RankDeficientDesignWarning,
    check_factors,
    check_response,
    factor_frame,
    model_formula,
    model_terms,
    rounding_error,
)


def anova(
    data: pd.DataFrame,
    response: str,
    factors: Sequence[str],
    *,
    typ: int = 2,
    interactions: Interactions = "full",
) -> pd.DataFrame:
    """N-way ANOVA of one response with categorical factors, by statsmodels.

    Types of the sums of squares: sequential (1), each term given all terms that do not contain it
    (2), or each term given all others, with sum-to-zero codes (3). `interactions` is the largest
    number of factors in a term. The string "None" is an ordinary level; a missing value is an
    error.

    One row per term (factor names joined by ":"), main effects first. If factors determine the
    response, their terms have an infinite F and the others NaN. With empty cells, type II is the
    minimum-norm solution with nominal ``df`` and a warning (see the docstring of the module), and
    type I compares nested models.
    """
    values = check_response(data, response, factors)
    design = FastAnova(data, factors, typ=typ, interactions=interactions)
    if design.full_rank:
        terms = model_terms(len(factors), interactions)
        frame = factor_frame(data, factors).assign(y=values - values.mean())
        model = smf.ols(f"y ~ {model_formula(terms, typ)}", frame).fit()
        # If factors determine the response, statsmodels' residual is rounding error.
        if model.ssr > rounding_error(values):
            table = anova_lm(model, typ=typ).drop(["Residual", "Intercept"], errors="ignore")
            return AnovaResults(
                design.terms,
                design.df,
                design.df_resid,
                design.n,
                sum_sq=table[["sum_sq"]].to_numpy(),
                f=table[["F"]].to_numpy(),
                p=table[["PR(>F)"]].to_numpy(),
                sum_sq_resid=np.array([model.ssr]),
                sum_sq_total=np.array([model.centered_tss]),
            ).table()
    return design.fit(values).table()


#: Separator between the factors of an interaction, as in the papers.
TIMES = " x "
COLUMNS = ["dependent_variable", "independent_variable", "metric", "value"]


def anova_cells(
    data: pd.DataFrame,
    responses: Sequence[str],
    factors: Sequence[str],
    scale: EffectScale,
    *,
    containing: str | None = None,
) -> pd.DataFrame:
    """Type II ANOVA of several responses in long format: p-value and effect size per term.

    Designs with empty cells get statsmodels' minimum-norm solution, as in the papers;
    `supported_cells` compares nested models instead.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankDeficientDesignWarning)
        tables = {response: anova(data, response, factors) for response in responses}
    cells = [
        (*key, measure, value)
        for key, row in _term_rows(tables, factors, containing)
        for measure, value in (
            ("p_value", float(row["p"])),
            ("effect_size", scale.label(row["omega_sq"])),
        )
    ]
    return pd.DataFrame(cells, columns=COLUMNS)


def supported_cells(
    data: pd.DataFrame,
    responses: Sequence[str],
    factors: Sequence[str],
    scale: EffectScale,
    *,
    containing: str | None = None,
) -> pd.DataFrame:
    """Type II ANOVA by nested models, also valid for designs with empty cells."""
    values = [check_response(data, response, factors) for response in responses]
    results = FastAnova(data, factors, solution="supported").fit(np.column_stack(values))
    tables = {response: results.table(column) for column, response in enumerate(responses)}
    cells: list[tuple[object, ...]] = []
    for key, row in _term_rows(tables, factors, containing):
        cells.append((*key, "df", int(row["df"])))
        if row["df"]:
            cells.append((*key, "F", float(row["F"])))
            cells.append((*key, "p_value", float(row["p"])))
            cells.append((*key, "omega_squared", float(row["omega_sq"])))
            cells.append((*key, "effect_size", scale.label(row["omega_sq"])))
    return pd.DataFrame(cells, columns=COLUMNS)


def _term_rows(
    tables: Mapping[str, pd.DataFrame], factors: Sequence[str], containing: str | None
) -> Iterator[tuple[tuple[str, str], pd.Series]]:
    """Key (response, term) and row of each term, or of each term that contains a factor."""
    known = containing is None or containing in factors
    require(known, "containing", containing, f"one of the factors {', '.join(factors)}")
    for response, table in tables.items():
        for term, row in table.iterrows():
            if containing is None or containing in str(term).split(":"):
                yield (response, str(term).replace(":", TIMES)), row


def intraclass_correlation(values: pd.Series, groups: pd.Series) -> float:
    """Intraclass correlation ICC(1): similarity of the values within a group.

    NaN if all values are the same. For groups of unequal size, the formula uses the mean size,
    corrected for the spread of the sizes.
    """
    grouped = values.astype(float).groupby(groups.to_numpy())
    sizes = grouped.size()
    n, k = int(sizes.sum()), len(sizes)
    if k < 2 or n <= k:
        raise DataError(
            column="groups",
            fault=f"have {n} values in {k} groups",
            expected="two groups or more, and two values or more in one of them",
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
        raise DataError(
            row=f"{cluster} {levels.idxmax()}",
            column=factor,
            fault=f"has {levels.max()} levels",
            expected=f"one level per {cluster}",
            fix="choose another factor, or a mixed model",
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
