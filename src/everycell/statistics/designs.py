"""Designs of an analysis of variance: terms, design matrices and treatment of empty cells."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import patsy

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.frames import check_columns

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


def _list_rows(mask: BoolArray, index: pd.Index) -> str:
    """Index labels of the first rows in the mask, for a message."""
    labels = [str(label) for label in index[mask][:3]]
    unlisted = int(mask.sum()) - len(labels)
    return ", ".join(labels) + (f" and {unlisted} more" if unlisted > 0 else "")


def _check_column(data: pd.DataFrame, name: str) -> None:
    """Reject data without rows, and a column that is missing or occurs more than once."""
    if data.empty:
        raise ValueError("The data frame has no rows: ANOVA needs at least one row per level.")
    check_columns("The data frame", data.columns, [name])


def check_factors(data: pd.DataFrame, factors: Sequence[str]) -> None:
    """Reject factors that are not columns, occur twice, have missing values or a single level."""
    if isinstance(factors, str):
        raise ValueError(
            f"The factors are the string {factors!r}: give a list of column names, "
            f"such as [{factors!r}]."
        )
    if not factors or len(set(factors)) != len(factors):
        raise ValueError(
            f"The factors are {list(factors)}: give at least one column name, without repeats."
        )
    for factor in factors:
        _check_column(data, factor)
        # With keep_default_na=False, pandas reads a missing value as an empty string.
        missing = (data[factor].isna() | data[factor].eq("")).to_numpy(dtype=bool)
        if missing.any():
            raise ValueError(
                f"The factor {factor!r} is missing in row {_list_rows(missing, data.index)}: "
                "remove these rows or, if a level is called 'None' or 'NA', read the file with "
                "keep_default_na=False."
            )
        if data[factor].nunique() < 2:
            raise ValueError(
                f"The factor {factor!r} has only the level {data[factor].iloc[0]!r}: a factor "
                "needs two levels or more, so leave it out or add rows."
            )


def check_response(data: pd.DataFrame, response: str, factors: Sequence[str]) -> FloatArray:
    """Check that a response varies and is finite, and return it as floats."""
    if response in factors:
        raise ValueError(
            f"{response!r} is both the response and a factor: leave it out of the factors."
        )
    _check_column(data, response)
    column = data[response]
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_complex_dtype(column):
        raise ValueError(
            f"The response {response!r} is not numeric: its first value is {column.iloc[0]!r} "
            f"(type {column.dtype}); convert it to numbers first."
        )
    values = column.to_numpy(dtype=float, na_value=np.nan)
    not_finite = ~np.isfinite(values)
    if not_finite.any():
        raise ValueError(
            f"The response {response!r} is not a finite number in row "
            f"{_list_rows(not_finite, data.index)}: correct or remove these rows."
        )
    centred = values - values.mean()
    if (centred**2).sum() <= rounding_error(values):
        raise ValueError(
            f"The response {response!r} is {values[0]:g} in every row"
            f"{', up to rounding' if np.ptp(values) else ''}: ANOVA needs a response that varies."
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
    if not isinstance(order, int) or isinstance(order, bool) or not 1 <= order <= n_factors:
        raise ValueError(
            f"interactions is {interactions!r}: give 'full' or the largest number of factors in "
            f"one term, from 1 (main effects only) to {n_factors}."
        )
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
