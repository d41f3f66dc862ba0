"""Designs of an analysis of variance: terms, matrices, and what empty cells leave of them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import patsy

FloatArray = npt.NDArray[np.float64]

Interactions = Literal["full"] | int

Solution = Literal["minimum_norm", "supported"]

# Two columns of 0/1 codes that differ at all differ by far more than this share of their length.
RANK_TOLERANCE = 1e-9


class RankDeficientDesignWarning(UserWarning):
    """The design has empty cells, so its ANOVA follows statsmodels' minimum-norm solution."""


def _rows(mask: npt.NDArray[np.bool_], index: pd.Index) -> str:
    """First rows (by index label) where `mask` holds, as words."""
    labels = [str(label) for label in index[mask][:3]]
    more = int(mask.sum()) - len(labels)
    return ", ".join(labels) + (f" and {more} more" if more > 0 else "")


def check_factors(data: pd.DataFrame, factors: Sequence[str]) -> None:
    """Refuse factors that are no columns, repeat, have gaps or a single level."""
    if isinstance(factors, str):
        raise ValueError(
            f"The factors are the string {factors!r}: give a list of column names, "
            f"such as [{factors!r}]."
        )
    if not factors or len(set(factors)) != len(factors):
        raise ValueError(
            f"The factors are {list(factors)}: give at least one column name, and each only once."
        )
    if data.empty:
        raise ValueError("The data frame has no rows: ANOVA needs at least one row a level.")
    for factor in factors:
        if factor not in data.columns:
            raise ValueError(
                f"The factor {factor!r} is not a column of the data: it has {list(data.columns)}; "
                "name one of these."
            )
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


def check_response(data: pd.DataFrame, response: str) -> FloatArray:
    """Return the response as floats; refuse a missing column and values that are no numbers."""
    if response not in data.columns:
        raise ValueError(
            f"The response {response!r} is not a column of the data: it has "
            f"{list(data.columns)}; name one of these."
        )
    column = data[response]
    if not pd.api.types.is_numeric_dtype(column):
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
    if np.ptp(values) == 0:
        raise ValueError(
            f"The response {response!r} is {values[0]:g} in every row: ANOVA needs a response "
            "that varies."
        )
    return values


def interaction_order(n_factors: int, interactions: Interactions) -> int:
    """Return the highest order of interactions: that of all factors for ``"full"``."""
    if interactions == "full":
        return n_factors
    is_count = isinstance(interactions, int) and not isinstance(interactions, bool)
    if not is_count or not 1 <= interactions <= n_factors:
        raise ValueError(
            f"interactions is {interactions!r}: give 'full' or the largest number of factors in "
            f"one term, from 1 (main effects only) to {n_factors}."
        )
    return interactions


def check_type(typ: int) -> None:
    """Refuse a type of sums of squares other than 1, 2 and 3."""
    if typ not in (1, 2, 3):
        raise ValueError(f"typ is {typ!r}: give 1, 2 or 3 (the type of the sums of squares).")


def model_terms(n_factors: int, order: int) -> list[tuple[int, ...]]:
    """Terms as tuples of factor numbers: main effects first, then pairs, and so on."""
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
    """Factors under internal names, so that a column name may hold anything."""
    return pd.DataFrame(
        {
            f"f{i}": pd.Categorical(data[factor].to_numpy(dtype=object))
            for i, factor in enumerate(factors)
        }
    )


def term_names(terms: Sequence[tuple[int, ...]], factors: Sequence[str]) -> list[str]:
    """Name each term by its factors, joined by colons."""
    return [":".join(factors[i] for i in term) for term in terms]


def check_residual(df_resid: int, factors: Sequence[str]) -> None:
    """Refuse a design that leaves no degree of freedom for the residual."""
    if df_resid < 1:
        raise ValueError(
            f"The design {list(factors)} leaves {df_resid} residual degrees of freedom: use fewer "
            "factors or interactions, or more rows."
        )


def warn_if_deficient(rank: int, exog: FloatArray, factors: Sequence[str]) -> None:
    """Warn where the design does not determine all of its parameters."""
    if rank < exog.shape[1]:
        warnings.warn(
            f"The design {list(factors)} has rank {rank} for {exog.shape[1]} columns: cells are "
            "empty, and type II follows statsmodels' minimum-norm solution; see design_support "
            "and supported_anova.",
            RankDeficientDesignWarning,
            stacklevel=3,
        )


def design_matrix(
    data: pd.DataFrame, factors: Sequence[str], terms: Sequence[tuple[int, ...]], typ: int
) -> tuple[FloatArray, dict[tuple[int, ...], slice]]:
    """Design matrix as statsmodels makes it, and the columns of each term."""
    matrix = patsy.dmatrix(model_formula(terms, typ), factor_frame(data, factors))
    slices = list(matrix.design_info.term_slices.values())
    # patsy puts the intercept first and then keeps our order: by size, then by factor.
    return np.asarray(matrix), dict(zip(terms, slices[1:], strict=True))


def orthonormal_basis(matrix: FloatArray, scale: float | None = None) -> FloatArray:
    """Orthonormal basis of the columns' span; `scale` is what counts as a length of one."""
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    largest = s.max(initial=0.0) if scale is None else scale
    return u[:, s > RANK_TOLERANCE * largest]


def added_basis(exog: FloatArray, known: list[int], tested: list[int]) -> FloatArray:
    """Basis of what the columns `tested` add to the span of the columns `known`."""
    basis = orthonormal_basis(exog[:, known])
    columns = exog[:, tested]
    rest = columns - basis @ (basis.T @ columns)
    return orthonormal_basis(rest, scale=float(np.linalg.norm(columns)))


def nested_columns(
    terms: Sequence[tuple[int, ...]], columns: Mapping[tuple[int, ...], slice], typ: int
) -> list[tuple[list[int], list[int]]]:
    """For each term the columns that it is tested given, and its own."""

    def given(position: int, term: tuple[int, ...], other: tuple[int, ...]) -> bool:
        if typ == 1:
            return terms.index(other) < position
        if typ == 2:
            return not set(term) <= set(other)
        return other != term

    def indices(chosen: Sequence[tuple[int, ...]]) -> list[int]:
        return [i for term in chosen for i in range(columns[term].start, columns[term].stop)]

    return [
        ([0, *indices([other for other in terms if given(i, term, other)])], indices([term]))
        for i, term in enumerate(terms)
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
    keep = s > RANK_TOLERANCE * scale
    return (weights.T @ u[:, keep]) / np.sqrt(s[keep])
