"""Designs of an analysis of variance: terms, matrices, and the effect of empty cells on them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import patsy

from everycell.engine.arrays import BoolArray, FloatArray, IntArray
from everycell.engine.frames import check_columns

Interactions = Literal["full"] | int

Solution = Literal["minimum_norm", "supported"]


# A sum of squares counts as rounding error where its root is below this share of the response's
# own, or no larger than a few units in the last place of the largest response would make it.
_ROUNDING_SHARE = 1e-12
_ROUNDING_UNITS = 16 * float(np.finfo(float).eps)

# Two columns of 0/1 codes that differ at all differ by far more than this share of their length.
RANK_TOLERANCE = 1e-9


class RankDeficientDesignWarning(UserWarning):
    """The design has empty cells, so its ANOVA follows statsmodels' minimum-norm solution."""


def _rows(mask: BoolArray, index: pd.Index) -> str:
    """First rows (by index label) where `mask` holds, as words."""
    labels = [str(label) for label in index[mask][:3]]
    more = int(mask.sum()) - len(labels)
    return ", ".join(labels) + (f" and {more} more" if more > 0 else "")


def _check_column(data: pd.DataFrame, name: str) -> None:
    """Refuse data without rows, and a name that no column or several columns have."""
    if data.empty:
        raise ValueError("The data frame has no rows: ANOVA needs at least one row per level.")
    check_columns("The data frame", data.columns, [name])


def check_factors(data: pd.DataFrame, factors: Sequence[str]) -> None:
    """Refuse factors that are not columns, occur twice, have gaps or have a single level."""
    if isinstance(factors, str):
        raise ValueError(
            f"The factors are the string {factors!r}: give a list of column names, "
            f"such as [{factors!r}]."
        )
    if not factors or len(set(factors)) != len(factors):
        raise ValueError(
            f"The factors are {list(factors)}: give at least one column name, and each only once."
        )
    for factor in factors:
        _check_column(data, factor)
        missing = data[factor].isna().to_numpy()
        if missing.any():
            raise ValueError(
                f"The factor {factor!r} is empty in row {_rows(missing, data.index)}: drop these "
                "rows, or, if the level is named 'None' or 'NA', read the file with "
                "keep_default_na=False."
            )
        if data[factor].nunique() < 2:
            raise ValueError(
                f"The factor {factor!r} has the one level {data[factor].iloc[0]!r}: a factor "
                "needs two levels or more, so leave it out or keep more rows."
            )


def check_response(data: pd.DataFrame, response: str, factors: Sequence[str]) -> FloatArray:
    """Return the response as floats; refuse one that does not vary or is not finite."""
    if response in factors:
        raise ValueError(
            f"{response!r} is both the response and a factor: leave it out of the factors."
        )
    _check_column(data, response)
    column = data[response]
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_complex_dtype(column):
        raise ValueError(
            f"The response {response!r} is not numeric: it holds {column.iloc[0]!r} (type "
            f"{column.dtype}); convert it to numbers first."
        )
    values = column.to_numpy(dtype=float, na_value=np.nan)
    bad = ~np.isfinite(values)
    if bad.any():
        raise ValueError(
            f"The response {response!r} is not a finite number in row {_rows(bad, data.index)}: "
            "fill or drop these rows before the ANOVA."
        )
    centred = values - values.mean()
    if (centred**2).sum() <= rounding(values):
        raise ValueError(
            f"The response {response!r} is {values[0]:g} in every row"
            f"{' but for rounding' if np.ptp(values) else ''}: ANOVA needs a response that varies."
        )
    return values


def rounding(responses: FloatArray) -> FloatArray:
    """Sum of squares below which each response (column) is nothing but rounding error."""
    about_mean = ((responses - responses.mean(axis=0)) ** 2).sum(axis=0)
    of_numbers = len(responses) * (_ROUNDING_UNITS * np.abs(responses).max(axis=0)) ** 2
    return of_numbers + _ROUNDING_SHARE**2 * about_mean


def model_terms(n_factors: int, interactions: Interactions) -> list[tuple[int, ...]]:
    """Terms as tuples of factor numbers: main effects first, then pairs, and so on."""
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
    """Right side of the formula over the internal names f0, f1, ...

    Type III tests a main effect averaged over the other factors only with codes that sum to zero;
    types I and II do not depend on the coding, and treatment codes are what statsmodels takes.
    """
    coding = "C(f{}, Sum)" if typ == 3 else "C(f{})"
    return " + ".join(":".join(coding.format(i) for i in term) for term in terms)


def factor_frame(data: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
    """Factors under internal names, their levels as numbers in sorted order.

    A column name may hold anything, and so may a level: patsy takes a level such as "nan" for a
    missing value and drops its rows.
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
    """Design matrix as statsmodels makes it, and the columns of each term."""
    matrix = patsy.dmatrix(model_formula(terms, typ), factor_frame(data, factors))
    slices = list(matrix.design_info.term_slices.values())
    # patsy puts the intercept first, then keeps our order: by number of factors, then by factor.
    return np.asarray(matrix), dict(zip(terms, slices[1:], strict=True))


def orthonormal_basis(matrix: FloatArray, scale: float | None = None) -> FloatArray:
    """Orthonormal basis of the columns' span; `scale` is what counts as a length of one."""
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    largest = s.max(initial=0.0) if scale is None else scale
    return u[:, s > RANK_TOLERANCE * largest]


def added_basis(exog: FloatArray, known: IntArray, tested: IntArray) -> FloatArray:
    """Basis of what the columns `tested` add to the span of the columns `known`."""
    basis = orthonormal_basis(exog[:, known])
    columns = exog[:, tested]
    added = columns - basis @ (basis.T @ columns)
    return orthonormal_basis(added, scale=float(np.linalg.norm(columns)))


def nested_columns(
    terms: Sequence[tuple[int, ...]], columns: Mapping[tuple[int, ...], slice], typ: int
) -> list[tuple[IntArray, IntArray]]:
    """For each term, the columns that its test conditions on, and its own columns."""

    def conditions_on(term: tuple[int, ...], other: tuple[int, ...]) -> bool:
        if typ == 1:
            return terms.index(other) < terms.index(term)
        return not set(term) <= set(other) if typ == 2 else other != term

    positions = np.arange(max(columns[term].stop for term in terms))
    return [
        (
            np.concatenate(
                [[0], *(positions[columns[other]] for other in terms if conditions_on(term, other))]
            ),
            positions[columns[term]],
        )
        for term in terms
    ]


def minimum_norm_basis(
    term: tuple[int, ...],
    terms: Sequence[tuple[int, ...]],
    columns: Mapping[tuple[int, ...], slice],
    pinv: FloatArray,
) -> FloatArray:
    """Vectors of a term's type II Wald test with minimum-norm coefficients, shape (n, rank).

    Their products with y, squared and summed, are the numerator. statsmodels builds the same test
    step by step, but takes directions without any variance, which are rounding noise, for real
    ones; here they are left out.
    """
    identity = np.eye(len(pinv))
    covariance = pinv @ pinv.T
    scale = float(np.linalg.norm(covariance))
    above = [other for other in terms if set(term) < set(other)]
    both = np.vstack([identity[columns[other]] for other in (term, *above)])
    if above:
        # Given the terms that contain it: the part of the hypothesis "this term and those above
        # are zero" that is orthogonal, in the metric of the covariance, to "those above are zero".
        higher = np.vstack([identity[columns[other]] for other in above])
        u, s, _ = np.linalg.svd(both @ covariance @ higher.T)
        constraint = u[:, int((s > RANK_TOLERANCE * scale).sum()) :].T @ both
    else:
        constraint = both
    weights = constraint @ pinv
    u, s, _ = np.linalg.svd(weights @ weights.T, hermitian=True)
    nonzero = s > RANK_TOLERANCE * scale
    return (weights.T @ u[:, nonzero]) / np.sqrt(s[nonzero])
