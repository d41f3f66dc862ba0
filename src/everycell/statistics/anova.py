"""Analysis of variance of categorical designs.

- :func:`anova`: one response, computed by statsmodels unless the design has empty cells;
- :class:`FastAnova`: many responses on the same design (simulations), with the same numbers;
- :func:`supported_anova`: comparison of nested models, also valid for designs with empty cells.

Designs with empty cells
------------------------
If cells of the design are empty, some columns of the design matrix are sums of others, and the
coefficients are not unique. statsmodels then uses the coefficients with minimum norm (a
pseudo-inverse), which distributes an effect evenly over the indistinguishable columns. In the
viewpoints study of lajewska2025 (chapter 4), no response is balanced without being diverse, so the
columns "balance" and "diversity:balance" are identical. The type II test of balance then compares
two coefficients that are equal by construction: 0/0, which the paper reports as p = 1, while the
complete effect of balance appears in the interaction row.

In floating point, this 0/0 is a ratio of rounding errors. statsmodels returns F = 0 and p = 1 for
the released files, but different F values for 32 of 200 random orders of the same rows, with p down
to 1e-108. This module sets values that are zero up to rounding to zero, so that such a test always
has F = 0 and p = 1; everything else is statsmodels' minimum-norm solution. On designs with empty
cells, this solution depends on the coding (treatment coding with the first level in sorted order as
the reference, as in statsmodels), so it changes if levels are renamed. :func:`design_support` shows
whether a design is affected; :func:`supported_anova` returns the result of R, which does not depend
on the coding.
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
    rounding_error,
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
    """N-way ANOVA of one response with categorical factors, computed by statsmodels.

    Parameters
    ----------
    data : pandas.DataFrame
        One row per observation. Error messages refer to rows by their index labels.
    response : str
        Numeric column, finite in every row.
    factors : sequence of str
        Columns of any type, which are treated as categories. The string ``"None"`` is an ordinary
        level; a missing value or an empty string is an error. The order matters only for type I.
    typ : {1, 2, 3}
        Type of the sums of squares: sequential (1), each term given all terms that do not contain
        it (2), or each term given all other terms, with sum-to-zero codes (3).
    interactions : "full" or int
        Largest number of factors in a term; ``"full"`` includes all interactions.

    Returns
    -------
    pandas.DataFrame
        One row per term (index ``term``: factor names joined by ``":"``, main effects first), with
        columns ``sum_sq``, ``df``, ``F`` (0 or more), ``p`` (0 to 1), ``n`` (rows), ``omega_sq``
        (:func:`~everycell.statistics.effect_size.omega_squared`), ``eta_sq``,
        ``partial_eta_sq`` and ``df_resid``. If factors determine the response, their terms have an
        infinite F and the other terms NaN.

    Raises
    ------
    ValueError
        For an empty frame, an unknown column, a factor with a missing value or a single level, a
        response that is not numeric, not finite, constant or one of the factors, no residual
        degrees of freedom, or type III on a design with empty cells.

    Warns
    -----
    RankDeficientDesignWarning
        For type II, if terms cannot be distinguished because of empty cells. The result is then the
        minimum-norm solution without rounding noise (see the docstring of the module), with nominal
        ``df``. For type I, the result is that of :func:`supported_anova`, without a warning.

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


def supported_anova(
    data: pd.DataFrame,
    response: str,
    factors: Sequence[str],
    *,
    typ: int = 2,
    interactions: Interactions = "full",
) -> pd.DataFrame:
    """ANOVA by comparison of nested models, also valid for designs with empty cells.

    The sum of squares of a term is the decrease of the residual sum of squares between two nested
    models, and its degrees of freedom are the increase in rank. The result does not depend on the
    coding of the factors or the names of their levels.

    Parameters
    ----------
    data, response, factors, typ, interactions
        As for :func:`anova`; `typ` 3 only on a design of full rank.

    Returns
    -------
    pandas.DataFrame
        As for :func:`anova`, but ``df`` are the degrees of freedom that the design supports. A term
        that cannot be separated from the others has a ``df`` of 0, and NaN for its sum of squares,
        F, p and effect sizes.

    Raises
    ------
    ValueError
        As for :func:`anova`.

    Notes
    -----
    Equal to R's ``anova`` (type I) and ``car::Anova`` (type II), also with empty cells, if the
    terms that are tested against each other are connected; unit tests compare both with R's output.
    Equal to :func:`anova` on a design of full rank.

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
    fast_anova = FastAnova(data, factors, typ=typ, interactions=interactions, solution="supported")
    return fast_anova.fit(values).table()


@dataclass(frozen=True)
class DesignSupport:
    """Terms that a design can distinguish, and its empty cells.

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
        As for :func:`anova`.

    Returns
    -------
    DesignSupport

    Raises
    ------
    ValueError
        For invalid factors, as for :func:`anova`.

    Examples
    --------
    >>> frame = pd.DataFrame({"diverse": [0, 0, 1, 1, 1, 1], "balanced": [0, 0, 0, 0, 1, 1]})
    >>> support = design_support(frame, ["diverse", "balanced"])
    >>> support.rank, support.columns, support.empty_cells.values.tolist()
    (3, 4, [[0, 1]])
    >>> support.terms["df_supported"].tolist()
    [1, 1, 0]
    """
    fast_anova = FastAnova(data, factors, interactions=interactions, solution="supported")
    terms = model_terms(len(factors), interactions)
    levels = [pd.Categorical(data[factor].to_numpy(dtype=object)).categories for factor in factors]
    crossing = list(itertools.product(*levels))
    present_cells = set(data[list(factors)].itertuples(index=False, name=None))
    nominal_df = [int(np.prod([len(levels[i]) - 1 for i in term])) for term in terms]
    return DesignSupport(
        n=fast_anova.n,
        columns=1 + sum(nominal_df),
        rank=fast_anova.rank,
        df_resid=fast_anova.df_resid,
        cells=len(crossing),
        empty_cells=pd.DataFrame(
            [cell for cell in crossing if cell not in present_cells], columns=list(factors)
        ),
        terms=pd.DataFrame(
            {"df_nominal": nominal_df, "df_supported": fast_anova.df.astype(int)},
            index=pd.Index(fast_anova.terms, name="term"),
        ),
    )
