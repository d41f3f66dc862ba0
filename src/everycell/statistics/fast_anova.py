"""Analysis of variance of many responses on the same design, with or without empty cells."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import patsy
from scipy.special import fdtrc

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.errors import DataError, require
from everycell.base.frames import check_columns
from everycell.statistics.effect_size import eta_squared, omega_squared, partial_eta_squared

Interactions = Literal["full"] | int

Solution = Literal["minimum_norm", "supported"]


# A sum of squares counts as rounding error if its root is below this share of the root of the
# response's sum of squares, or as small as a few units in the last place of the largest response.
_ROUNDING_SHARE = 1e-12
_ROUNDING_UNITS = 16 * float(np.finfo(float).eps)

# Different columns of codes (-1, 0, 1) differ by far more than this share of their norm.
RANK_TOLERANCE = 1e-9


class RankDeficientDesignWarning(UserWarning):
    """The design has empty cells, so its ANOVA follows statsmodels' minimum-norm solution."""


def _check_rows(column: pd.Series, is_wrong: BoolArray, fault: str, fix: str) -> None:
    """Reject a column if any row is wrong; the first one is named by its index label."""
    if is_wrong.any():
        row, count = column.index[is_wrong][0], int(is_wrong.sum())
        raise DataError(
            "The data frame",
            f"row {row}",
            str(column.name),
            fault=f"{fault} ({count} rows)",
            fix=fix,
        )


def _check_column(data: pd.DataFrame, name: str) -> None:
    """Reject data without rows, and a column that is missing or occurs more than once."""
    if data.empty:
        raise DataError("The data frame", fault="has no rows", expected="at least one per level")
    check_columns("The data frame", data.columns, [name])


def check_factors(data: pd.DataFrame, factors: Sequence[str]) -> None:
    """Reject factors that are not columns, occur twice, have missing values or a single level."""
    is_list = not isinstance(factors, str) and factors and len(set(factors)) == len(factors)
    require(is_list, "factors", factors, "a list of one column name or more, without repeats")
    for factor in factors:
        _check_column(data, factor)
        # With keep_default_na=False, pandas reads a missing value as an empty string.
        missing = (data[factor].isna() | data[factor].eq("")).to_numpy(dtype=bool)
        advice = (
            "remove these rows or, if a level is called 'None' or 'NA', read the file with "
            "keep_default_na=False"
        )
        _check_rows(data[factor], missing, "is missing", advice)
        if data[factor].nunique() < 2:
            raise DataError(
                column=factor,
                value=data[factor].iloc[0],
                fault="in every row",
                expected="two levels or more",
                fix="leave the factor out or add rows",
            )


def check_response(data: pd.DataFrame, response: str, factors: Sequence[str]) -> FloatArray:
    """Check that a response varies and is finite, and return it as floats."""
    require(response not in factors, "response", response, "a column that is not a factor")
    _check_column(data, response)
    column = data[response]
    is_real = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)
    require(is_real, response, column.iloc[0], f"real numbers; the type is {column.dtype}")
    values = column.to_numpy(dtype=float, na_value=np.nan)
    _check_rows(column, ~np.isfinite(values), "is not a finite number", "correct or remove them")
    centred = values - values.mean()
    if (centred**2).sum() <= rounding_error(values):
        raise DataError(
            column=response,
            value=float(values[0]),
            fault=f"in every row{', up to rounding' if np.ptp(values) else ''}",
            expected="a response that varies",
        )
    return values


def rounding_error(responses: FloatArray) -> FloatArray:
    """Largest sum of squares of each response (column) that counts as rounding error."""
    about_mean = ((responses - responses.mean(axis=0)) ** 2).sum(axis=0)
    last_place_errors = len(responses) * (_ROUNDING_UNITS * np.abs(responses).max(axis=0)) ** 2
    return last_place_errors + _ROUNDING_SHARE**2 * about_mean


def model_terms(n_factors: int, interactions: Interactions) -> list[tuple[int, ...]]:
    """Terms as tuples of factor indices: main effects first, then pairs, and so on."""
    order = n_factors if interactions == "full" else interactions
    is_order = isinstance(order, int) and not isinstance(order, bool) and 1 <= order <= n_factors
    expected = f"'full' or the largest number of factors in one term, from 1 to {n_factors}"
    require(is_order, "interactions", interactions, expected)
    return [
        term
        for size in range(1, order + 1)
        for term in itertools.combinations(range(n_factors), size)
    ]


def model_formula(terms: Sequence[tuple[int, ...]], typ: int) -> str:
    """Right-hand side of the formula, with the internal names f0, f1, ...

    For type III, a main effect is averaged over the other factors only with sum-to-zero coding.
    Types I and II do not depend on the coding and use treatment coding, statsmodels' default.
    """
    coding = "C(f{}, Sum)" if typ == 3 else "C(f{})"
    return " + ".join(":".join(coding.format(i) for i in term) for term in terms)


def factor_frame(data: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
    """Factors with internal names, and levels as numbers in sorted order.

    Column names and levels can be any values, some of which patsy misreads: it treats a level such
    as "nan" as a missing value and drops its rows.
    """
    return pd.DataFrame(
        {
            f"f{i}": pd.Categorical(pd.Categorical(data[factor].to_numpy(dtype=object)).codes)
            for i, factor in enumerate(factors)
        }
    )


def design_matrix(
    data: pd.DataFrame, factors: Sequence[str], terms: Sequence[tuple[int, ...]], typ: int
) -> tuple[FloatArray, dict[tuple[int, ...], slice]]:
    """Design matrix as in statsmodels, and the columns of each term."""
    matrix = patsy.dmatrix(model_formula(terms, typ), factor_frame(data, factors))
    slices = list(matrix.design_info.term_slices.values())
    # patsy puts the intercept first and keeps the order of the terms.
    return np.asarray(matrix), dict(zip(terms, slices[1:], strict=True))


def orthonormal_basis(matrix: FloatArray, scale: float | None = None) -> FloatArray:
    """Orthonormal basis of the span of the columns.

    The tolerance for the rank is relative to `scale`, by default the largest singular value.
    """
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    largest = s.max(initial=0.0) if scale is None else scale
    return u[:, s > RANK_TOLERANCE * largest]


def added_basis(
    exog: FloatArray, conditioning_columns: IntArray, own_columns: IntArray
) -> FloatArray:
    """Basis of the span that a term's own columns add to that of the conditioning columns."""
    basis = orthonormal_basis(exog[:, conditioning_columns])
    columns = exog[:, own_columns]
    residuals = columns - basis @ (basis.T @ columns)
    return orthonormal_basis(residuals, scale=float(np.linalg.norm(columns)))


def nested_columns(
    terms: Sequence[tuple[int, ...]], columns: Mapping[tuple[int, ...], slice], typ: int
) -> list[tuple[IntArray, IntArray]]:
    """Columns that the test of each term conditions on, and the columns of the term."""

    def conditions_on(tested_term: tuple[int, ...], term: tuple[int, ...]) -> bool:
        if typ == 1:
            return terms.index(term) < terms.index(tested_term)
        return not set(tested_term) <= set(term) if typ == 2 else term != tested_term

    positions = np.arange(max(columns[term].stop for term in terms))
    return [
        (
            np.concatenate(
                [
                    [0],
                    *(
                        positions[columns[term]]
                        for term in terms
                        if conditions_on(tested_term, term)
                    ),
                ]
            ),
            positions[columns[tested_term]],
        )
        for tested_term in terms
    ]


def minimum_norm_basis(
    term: tuple[int, ...],
    terms: Sequence[tuple[int, ...]],
    columns: Mapping[tuple[int, ...], slice],
    pinv: FloatArray,
) -> FloatArray:
    """Vectors of a term's type II Wald test with minimum-norm coefficients, shape (n, rank).

    The numerator is the sum of their squared products with y. statsmodels builds the same test, but
    also includes directions without variance, which are rounding noise; they are excluded here.
    """
    identity = np.eye(len(pinv))
    covariance = pinv @ pinv.T
    scale = float(np.linalg.norm(covariance))
    higher_terms = [candidate for candidate in terms if set(term) < set(candidate)]
    joint_hypothesis = np.vstack(
        [identity[columns[zero_term]] for zero_term in (term, *higher_terms)]
    )
    if higher_terms:
        # The part of the hypothesis "the term and all higher terms are zero" that is orthogonal, in
        # the metric of the covariance, to the hypothesis "all higher terms are zero".
        higher_hypothesis = np.vstack([identity[columns[zero_term]] for zero_term in higher_terms])
        u, s, _ = np.linalg.svd(joint_hypothesis @ covariance @ higher_hypothesis.T)
        constraint = u[:, int((s > RANK_TOLERANCE * scale).sum()) :].T @ joint_hypothesis
    else:
        constraint = joint_hypothesis
    weights = constraint @ pinv
    u, s, _ = np.linalg.svd(weights @ weights.T, hermitian=True)
    nonzero = s > RANK_TOLERANCE * scale
    return (weights.T @ u[:, nonzero]) / np.sqrt(s[nonzero])


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

    For type I, statsmodels uses an unpivoted QR decomposition, in which an empty cell leaves a
    column of rounding noise; here such a term has 0 degrees of freedom and NaN.
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
        require(typ in (1, 2, 3), "typ", typ, "1, 2 or 3, the type of the sums of squares")
        check_factors(data, factors)
        terms = model_terms(len(factors), interactions)
        exog, columns = design_matrix(data, factors, terms, typ)
        self._space = orthonormal_basis(exog)
        self.n, self.rank = len(exog), self._space.shape[1]
        self.df_resid = self.n - self.rank
        self.full_rank = self.rank == exog.shape[1]
        self.terms = tuple(":".join(factors[i] for i in term) for term in terms)
        if self.df_resid < 1:
            raise DataError(
                column="factors",
                value=list(factors),
                fault=f"which leave {self.df_resid} residual degrees of freedom",
                fix="use fewer factors or interactions, or more rows",
            )
        if typ == 3 and not self.full_rank:
            raise DataError(
                column="typ",
                value=3,
                fault=f"but the design has empty cells (rank {self.rank} for {exog.shape[1]} "
                "columns), so the result would depend on the coding",
                fix="use typ=1 or typ=2",
            )
        minimum_norm = solution == "minimum_norm" and typ == 2 and not self.full_rank
        if minimum_norm:
            warnings.warn(
                f"The design {list(factors)} has empty cells (rank {self.rank} for "
                f"{exog.shape[1]} columns), so type II follows statsmodels' minimum-norm solution; "
                "see everycell.statistics.anova.",
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
