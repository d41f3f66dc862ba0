"""Analysis of variance of many responses on the same design."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import fdtrc

from everycell.base.arrays import FloatArray
from everycell.statistics.designs import (
    RANK_TOLERANCE,
    Interactions,
    RankDeficientDesignWarning,
    Solution,
    added_basis,
    check_factors,
    design_matrix,
    minimum_norm_basis,
    model_terms,
    nested_columns,
    orthonormal_basis,
    rounding_error,
)
from everycell.statistics.effect_size import eta_squared, omega_squared, partial_eta_squared


@dataclass(frozen=True)
class AnovaResults:
    """ANOVA of many responses on one design."""

    terms: tuple[str, ...]
    df: FloatArray
    df_resid: int
    n: int
    sum_sq: FloatArray
    f: FloatArray
    p: FloatArray
    sum_sq_resid: FloatArray
    sum_sq_total: FloatArray

    def table(self, column: int = 0) -> pd.DataFrame:
        """Table of one response, with the rows and columns of :func:`anova`."""
        sum_sq, f = self.sum_sq[:, column], self.f[:, column]
        return pd.DataFrame(
            {
                "sum_sq": sum_sq,
                "df": self.df,
                "F": f,
                "p": self.p[:, column],
                "n": self.n,
                "omega_sq": omega_squared(f, self.df, self.n),
                "eta_sq": eta_squared(sum_sq, self.sum_sq_total[column]),
                "partial_eta_sq": partial_eta_squared(sum_sq, self.sum_sq_resid[column]),
                "df_resid": self.df_resid,
            },
            index=pd.Index(self.terms, name="term"),
        )


class FastAnova:
    """ANOVA of a design, prepared once and then applied to many responses.

    Everything that depends only on the design is computed once: each term is represented by a few
    orthonormal vectors, and its sum of squares for a response is the sum of the squared products
    with them. All terms of all responses then need only a few matrix products.

    Unit tests compare all types with statsmodels to 1e-9 on designs of full rank, and type II also
    on rank-deficient designs like those of the viewpoints study, except for terms that are 0/0
    (see the docstring of :mod:`everycell.statistics.anova`). For type I, statsmodels uses an
    unpivoted QR decomposition, in which an empty cell leaves a column of rounding noise; here such
    a term has 0 degrees of freedom and NaN.
    """

    def __init__(
        self,
        data: pd.DataFrame,
        factors: Sequence[str],
        *,
        typ: int = 2,
        interactions: Interactions = "full",
        solution: Solution = "minimum_norm",
    ) -> None:
        if typ not in (1, 2, 3):
            raise ValueError(f"typ is {typ!r}: give 1, 2 or 3 (the type of the sums of squares).")
        check_factors(data, factors)
        if solution not in ("minimum_norm", "supported"):
            raise ValueError(f"solution is {solution!r}: give 'minimum_norm' or 'supported'.")
        terms = model_terms(len(factors), interactions)
        exog, columns = design_matrix(data, factors, terms, typ)
        self._space = orthonormal_basis(exog)
        self.n, self.rank = len(exog), self._space.shape[1]
        self.df_resid = self.n - self.rank
        self.full_rank = self.rank == exog.shape[1]
        self.terms = tuple(":".join(factors[i] for i in term) for term in terms)
        if self.df_resid < 1:
            raise ValueError(
                f"The design {list(factors)} leaves {self.df_resid} residual degrees of freedom: "
                "use fewer factors or interactions, or more rows."
            )
        if typ == 3 and not self.full_rank:
            raise ValueError(
                f"The design {list(factors)} has empty cells (rank {self.rank} for "
                f"{exog.shape[1]} columns), so the result of type III would depend on the coding: "
                "use typ=1 or typ=2."
            )
        minimum_norm = solution == "minimum_norm" and typ == 2 and not self.full_rank
        if minimum_norm:
            warnings.warn(
                f"The design {list(factors)} has empty cells (rank {self.rank} for "
                f"{exog.shape[1]} columns), so type II follows statsmodels' minimum-norm solution; "
                "see design_support and supported_anova.",
                RankDeficientDesignWarning,
                stacklevel=2,
            )
            pinv = np.linalg.pinv(exog, rtol=RANK_TOLERANCE)
            bases = [minimum_norm_basis(term, terms, columns, pinv) for term in terms]
        else:
            bases = [added_basis(exog, *pair) for pair in nested_columns(terms, columns, typ)]
        widths = np.array([basis.shape[1] for basis in bases])
        self.df = np.array(
            [columns[term].stop - columns[term].start for term in terms]
            if minimum_norm
            else widths,
            dtype=float,
        )
        # For a term of rank 0, F is 0 in the minimum-norm solution and undefined otherwise.
        self._tested_df = np.where(widths > 0, widths, 1.0 if minimum_norm else np.nan)
        self._vectors = np.hstack(bases)
        # Shape (terms, vectors), 1 if the vector belongs to the term: sums the squares per term.
        self._term_sums = np.repeat(np.eye(len(terms)), widths, axis=1)

    def fit(self, responses: npt.ArrayLike) -> AnovaResults:
        """ANOVA of each column of the responses."""
        y = np.asarray(responses, dtype=float)
        y = y[:, None] if y.ndim == 1 else y
        if y.ndim != 2 or y.shape[0] != self.n:
            raise ValueError(
                f"The responses have the shape {np.shape(responses)}: give {self.n} rows, one for "
                "each row of the design, and one column per response."
            )
        if not np.isfinite(y).all():
            row, column = np.argwhere(~np.isfinite(y))[0]
            raise ValueError(
                f"The response in column {column} is {y[row, column]} in row {row}: give finite "
                "numbers only."
            )
        tolerance = rounding_error(y)
        # A large mean costs digits, and no term tests the intercept.
        y = y - y.mean(axis=0)
        total = (y**2).sum(axis=0)
        resid = ((y - self._space @ (self._space.T @ y)) ** 2).sum(axis=0)
        explained = self._term_sums @ (self._vectors.T @ y) ** 2
        is_constant = total <= tolerance
        resid[resid <= tolerance] = 0
        explained[explained <= tolerance] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            mean_sq = explained / self._tested_df[:, None]
            f = mean_sq / (resid / self.df_resid)
            f[:, is_constant] = np.nan
            # statsmodels derives the sum of squares from F with the nominal degrees of freedom.
            sum_sq = mean_sq * self.df[:, None]
            p = fdtrc(self._tested_df[:, None], self.df_resid, f)
        return AnovaResults(
            terms=self.terms,
            df=self.df,
            df_resid=self.df_resid,
            n=self.n,
            sum_sq=sum_sq,
            f=f,
            p=p,
            sum_sq_resid=resid,
            sum_sq_total=total,
        )
