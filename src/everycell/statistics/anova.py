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
    """N-way ANOVA of one response with categorical factors, by statsmodels.

    Types of the sums of squares: sequential (1), each term given all terms that do not contain it
    (2), or each term given all others, with sum-to-zero codes (3). `interactions` is the largest
    number of factors in a term. The string "None" is an ordinary level; a missing value is an
    error.

    One row per term (factor names joined by ":"), main effects first. If factors determine the
    response, their terms have an infinite F and the others NaN. With empty cells, type II is the
    minimum-norm solution with nominal ``df`` and a warning (see the docstring of the module), and
    type I that of :func:`supported_anova`. Used by lajewska2025 (section 4.2.3).
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
    """ANOVA by nested models, also valid for designs with empty cells.

    The sum of squares of a term is the decrease of the residual sum of squares between two nested
    models, and its ``df`` are the increase in rank: both are independent of codings and of the
    names of levels. A term that cannot be separated from the others has a ``df`` of 0, and NaN for
    the rest.

    Equal to R's ``anova`` (type I) and ``car::Anova`` (type II), also with empty cells, if the
    terms that are tested against each other are connected, and to :func:`anova` on a design of full
    rank.
    """
    values = check_response(data, response, factors)
    fast_anova = FastAnova(data, factors, typ=typ, interactions=interactions, solution="supported")
    return fast_anova.fit(values).table()


@dataclass(frozen=True)
class DesignSupport:
    """Terms that a design can distinguish, and its empty cells."""

    n: int
    columns: int  #: of the design matrix, with its rank
    rank: int
    df_resid: int
    cells: int  #: of the full crossing
    empty_cells: pd.DataFrame  #: one column per factor
    terms: pd.DataFrame  #: index ``term``; ``df_nominal`` and ``df_supported`` (type II)

    @property
    def full_rank(self) -> bool:
        """Whether every term has its nominal degrees of freedom."""
        return self.rank == self.columns


def design_support(
    data: pd.DataFrame, factors: Sequence[str], *, interactions: Interactions = "full"
) -> DesignSupport:
    """Rank, empty cells and supported degrees of freedom of a design."""
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
