"""Analysis of variance of categorical designs.

- :func:`anova`: one response, through statsmodels, unless cells of the design are empty;
- :class:`FastAnova`: one design, many responses at once (simulations), the same numbers;
- :func:`supported_anova`: only what a design with empty cells supports, by comparing nested models
  with the degrees of freedom that their ranks leave.

Designs with empty cells
------------------------
When cells of the design are empty, some columns of the design matrix are sums of others, and the
coefficients are no longer unique. statsmodels then takes the coefficients of least norm (a
pseudo-inverse), which spreads an effect evenly over the indistinguishable columns. In the
viewpoints study of lajewska2025 (chapter 4) no response is balanced without being diverse, so the
columns "balance" and "diversity:balance" are the same. The type II test of balance then compares
two coefficients that are equal by construction: 0/0, which the paper prints as p = 1, while the
whole effect of balance appears in the interaction row.

In floating point that 0/0 is a ratio of rounding errors. statsmodels gives F = 0 and p = 1 for
the released files as they stand, but other F values for 32 of 200 random orders of the same rows,
with p down to 1e-108. This module treats what is zero up to rounding as zero, so that such a test
always gives F = 0 and p = 1; everything else is statsmodels' minimum-norm answer. That answer still
depends on the coding (treatment coding, the first level in sorted order as the reference, as in
statsmodels), so on designs with empty cells, and only there, it changes when levels are renamed.
:func:`design_support` shows whether a design is affected; :func:`supported_anova` gives the answer
of R, which does not depend on the coding.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from everycell.statistics.designs import (
    Interactions,
    check_response,
    factor_frame,
    model_formula,
    model_terms,
    rounding,
)
from everycell.statistics.fast_anova import AnovaResults, FastAnova


def anova(
    data: pd.DataFrame,
    response: str,
    factors: Sequence[str],
    *,
    typ: int = 2,
    interactions: Interactions = "full",
) -> pd.DataFrame:
    """N-way ANOVA of one response, all factors categorical, through statsmodels.

    Parameters
    ----------
    data : pandas.DataFrame
        One row per observation. Index labels name the rows in error messages.
    response : str
        Numeric column, finite in every row.
    factors : sequence of str
        Columns taken as categories, whatever their type. The text ``"None"`` is a level like any
        other; a missing value is an error. The order matters for type I only.
    typ : {1, 2, 3}
        Type of the sums of squares: sequential, each term given all that do not contain it, each
        term given all others (with sum-to-zero codes).
    interactions : "full" or int
        Largest number of factors in a term; ``"full"`` takes all interactions.

    Returns
    -------
    pandas.DataFrame
        One row per term (index ``term``: factor names joined by ``":"``, main effects first), with
        columns ``sum_sq``, ``df``, ``F`` (0 or more), ``p`` (0 to 1), ``n`` (rows), ``omega_sq``
        (:func:`~everycell.statistics.effect_size.omega_squared`), ``eta_sq``,
        ``partial_eta_sq`` and ``df_resid``. Where factors determine the response, their terms have
        an infinite F and the others NaN.

    Raises
    ------
    ValueError
        For an empty frame, an unknown column, a factor with a missing value or a single level, a
        response that is not numeric, is not finite, is constant or is one of the factors, no
        residual degrees of freedom, or type III on a design with empty cells.

    Warns
    -----
    RankDeficientDesignWarning
        If cells are empty so that terms cannot be distinguished. Type II is then the minimum-norm
        answer without its rounding noise (see the module's text), and ``df`` the nominal one; type
        I is that of :func:`supported_anova`.

    Notes
    -----
    Source: statsmodels ``anova_lm``; lajewska2025, section 4.2.3 (Tables 4.8 to 4.12, 7.4 to 7.6).

    Examples
    --------
    >>> frame = pd.DataFrame({"rating": [1, 2, 3, 4, 2, 4], "kind": list("aabbcc")})
    >>> anova(frame, "rating", ["kind"]).loc["kind", ["df", "F", "p"]].round(3).to_dict()
    {'df': 2.0, 'F': 2.167, 'p': 0.262}
    """
    values = check_response(data, response, factors)
    design = FastAnova(data, factors, typ=typ, interactions=interactions)
    if design.full_rank:
        terms = model_terms(len(factors), interactions)
        frame = factor_frame(data, factors).assign(y=values - values.mean())
        model = smf.ols(f"y ~ {model_formula(terms, typ)}", frame).fit()
        # Where a factor determines the response, statsmodels' residual is rounding error.
        if model.ssr > rounding(values):
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


def supported_anova(
    data: pd.DataFrame,
    response: str,
    factors: Sequence[str],
    *,
    typ: int = 2,
    interactions: Interactions = "full",
) -> pd.DataFrame:
    """ANOVA that claims no more than the design supports.

    Each term is the comparison of two nested models: its sum of squares is the drop of the
    residual sum of squares, its degrees of freedom the gain in rank. Nothing depends on the coding
    of the factors or the names of their levels.

    Parameters
    ----------
    data, response, factors, typ, interactions
        As in :func:`anova`; `typ` 3 only on a design of full rank.

    Returns
    -------
    pandas.DataFrame
        As :func:`anova`, but ``df`` is what the design supports. A term that is not separable
        from the others has ``df`` 0 and NaN for what would be estimated.

    Raises
    ------
    ValueError
        As :func:`anova`, and for type III on a design that lacks rank.

    Notes
    -----
    Equal to R's ``anova`` (type I) and ``car::Anova`` (type II), also with empty cells, as long as
    the terms that are tested against each other are connected; the tests compare both with R's
    output. On a design of full rank it equals :func:`anova`.

    Examples
    --------
    No row is balanced without being diverse, so the interaction equals "balanced":

    >>> frame = pd.DataFrame(
    ...     {"rating": [1, 2, 2, 3, 4, 4], "diverse": [0, 0, 1, 1, 1, 1],
    ...      "balanced": [0, 0, 0, 0, 1, 1]}
    ... )
    >>> table = supported_anova(frame, "rating", ["diverse", "balanced"])
    >>> table["df"].to_dict()
    {'diverse': 1.0, 'balanced': 1.0, 'diverse:balanced': 0.0}
    >>> float(table.loc["balanced", "F"].round(3))
    6.75
    """
    values = check_response(data, response, factors)
    fast = FastAnova(data, factors, typ=typ, interactions=interactions, solution="supported")
    return fast.fit(values).table()


@dataclass(frozen=True)
class DesignSupport:
    """Which terms a design can tell apart.

    Attributes
    ----------
    n, columns, rank, df_resid : int
        Rows, columns of the design matrix, its rank and the residual degrees of freedom.
    cells : int
        Number of cells of the full crossing.
    empty_cells : pandas.DataFrame
        One row per empty cell, one column per factor.
    terms : pandas.DataFrame
        Index ``term``; ``df_nominal`` and ``df_supported`` (type II).
    """

    n: int
    columns: int
    rank: int
    df_resid: int
    cells: int
    empty_cells: pd.DataFrame
    terms: pd.DataFrame

    @property
    def full_rank(self) -> bool:
        """Whether every term has its nominal degrees of freedom."""
        return self.rank == self.columns


def design_support(
    data: pd.DataFrame, factors: Sequence[str], *, interactions: Interactions = "full"
) -> DesignSupport:
    """Rank, empty cells and supported degrees of freedom of a design.

    Parameters
    ----------
    data, factors, interactions
        As in :func:`anova`.

    Returns
    -------
    DesignSupport

    Raises
    ------
    ValueError
        For bad factors, as in :func:`anova`.

    Examples
    --------
    >>> frame = pd.DataFrame({"diverse": [0, 0, 1, 1, 1, 1], "balanced": [0, 0, 0, 0, 1, 1]})
    >>> support = design_support(frame, ["diverse", "balanced"])
    >>> support.rank, support.columns, support.empty_cells.values.tolist()
    (3, 4, [[0, 1]])
    >>> support.terms["df_supported"].tolist()
    [1, 1, 0]
    """
    fast = FastAnova(data, factors, interactions=interactions, solution="supported")
    terms = model_terms(len(factors), interactions)
    levels = [pd.Categorical(data[factor].to_numpy(dtype=object)).categories for factor in factors]
    crossing = list(itertools.product(*levels))
    present = set(data[list(factors)].itertuples(index=False, name=None))
    nominal = [int(np.prod([len(levels[i]) - 1 for i in term])) for term in terms]
    return DesignSupport(
        n=fast.n,
        columns=1 + sum(nominal),
        rank=fast.rank,
        df_resid=fast.df_resid,
        cells=len(crossing),
        empty_cells=pd.DataFrame(
            [cell for cell in crossing if cell not in present], columns=list(factors)
        ),
        terms=pd.DataFrame(
            {"df_nominal": nominal, "df_supported": fast.df.astype(int)},
            index=pd.Index(fast.terms, name="term"),
        ),
    )
