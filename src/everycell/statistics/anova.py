"""Analysis of variance of categorical designs.

Three ways to the same table:

- :func:`anova`: one response, through statsmodels (the reference);
- :class:`FastAnova`: one design, many responses at once (simulations), equal to statsmodels;
- :func:`supported_anova`: what a design with empty cells really supports, by comparing nested
  models with the degrees of freedom that their ranks leave.

Designs with empty cells
------------------------
When cells of the design are empty, some columns of the design matrix are sums of others, and the
coefficients are no longer unique. statsmodels then takes the coefficients of least norm (a
pseudo-inverse), which spreads an effect evenly over the columns that cannot be told apart. In the
viewpoints study of lajewska2025 (chapter 4) no response is balanced without being diverse, so the
columns "balance" and "diversity:balance" are the same: type II gives balance F = 0 and p = 1
*whatever the data are*, and its whole effect appears in the interaction row. Which coefficients
are of least norm depends on the coding (here: treatment coding, the first level in sorted order as
the reference, as statsmodels does by default), so on such designs alone the result changes when
levels are renamed. :func:`design_support` shows whether a design is affected;
:func:`supported_anova` gives the answer that does not depend on the coding and that R gives.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm
from statsmodels.tools.sm_exceptions import ValueWarning

from everycell.statistics.effect_size import eta_squared, omega_squared, partial_eta_squared

FloatArray = npt.NDArray[np.float64]
Interactions = Literal["full"] | int
Solution = Literal["minimum_norm", "supported"]

COLUMNS = (
    "sum_sq",
    "df",
    "F",
    "p",
    "n",
    "omega_sq",
    "eta_sq",
    "partial_eta_sq",
    "df_resid",
)
# Two columns of 0/1 codes that differ at all differ by far more than this share of their length.
_RANK_TOLERANCE = 1e-9


class RankDeficientDesignWarning(UserWarning):
    """The design has empty cells, so its ANOVA follows statsmodels' minimum-norm solution."""


def _rows(mask: npt.NDArray[np.bool_], index: pd.Index) -> str:
    """First rows (by index label) where `mask` holds, as words."""
    labels = [str(label) for label in index[mask][:3]]
    more = int(mask.sum()) - len(labels)
    return ", ".join(labels) + (f" and {more} more" if more > 0 else "")


def _check_factors(data: pd.DataFrame, factors: Sequence[str]) -> None:
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


def _check_response(data: pd.DataFrame, response: str) -> FloatArray:
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


def _order(n_factors: int, interactions: Interactions) -> int:
    if interactions == "full":
        return n_factors
    is_count = isinstance(interactions, int) and not isinstance(interactions, bool)
    if not is_count or not 1 <= interactions <= n_factors:
        raise ValueError(
            f"interactions is {interactions!r}: give 'full' or the largest number of factors in "
            f"one term, from 1 (main effects only) to {n_factors}."
        )
    return interactions


def _check_type(typ: int) -> None:
    if typ not in (1, 2, 3):
        raise ValueError(f"typ is {typ!r}: give 1, 2 or 3 (the type of the sums of squares).")


def _terms(n_factors: int, order: int) -> list[tuple[int, ...]]:
    """Terms as tuples of factor numbers: main effects first, then pairs, and so on."""
    return [
        term
        for size in range(1, order + 1)
        for term in itertools.combinations(range(n_factors), size)
    ]


def _formula(terms: Sequence[tuple[int, ...]], typ: int) -> str:
    """Right side of the formula over the internal names f0, f1, ...

    Type III tests a main effect averaged over the other factors only with codes that sum to zero;
    types I and II do not depend on the coding, and treatment codes are what statsmodels takes.
    """
    coding = "C(f{}, Sum)" if typ == 3 else "C(f{})"
    return " + ".join(":".join(coding.format(i) for i in term) for term in terms)


def _factor_frame(data: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
    """Factors under internal names, so that a column name may hold anything."""
    return pd.DataFrame(
        {
            f"f{i}": pd.Categorical(data[factor].to_numpy(dtype=object))
            for i, factor in enumerate(factors)
        }
    )


def _names(terms: Sequence[tuple[int, ...]], factors: Sequence[str]) -> list[str]:
    return [":".join(factors[i] for i in term) for term in terms]


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
        One row an observation. Index labels name the rows in error messages.
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
        One row a term (index ``term``: factor names joined by ``":"``, main effects first), with
        columns ``sum_sq``, ``df``, ``F`` (0 or more), ``p`` (0 to 1), ``n`` (rows), ``omega_sq``
        (:func:`~everycell.statistics.effect_size.omega_squared`), ``eta_sq``,
        ``partial_eta_sq`` and ``df_resid``.

    Raises
    ------
    ValueError
        For an empty frame, an unknown column, a factor with a missing value or a single level, a
        response that is not numeric, not finite or constant, or no residual degrees of freedom.

    Warns
    -----
    RankDeficientDesignWarning
        If cells are empty so that terms cannot be told apart. The table is then statsmodels'
        minimum-norm answer (see the module's text); its ``df`` is the nominal one.

    Notes
    -----
    Source: statsmodels ``anova_lm``; lajewska2025, section 4.2.3 (Tables 4.8 to 4.12, 7.4 to 7.6).

    Examples
    --------
    >>> frame = pd.DataFrame({"rating": [1, 2, 3, 4, 2, 4], "kind": list("aabbcc")})
    >>> anova(frame, "rating", ["kind"]).loc["kind", ["df", "F", "p"]].round(3).to_dict()
    {'df': 2.0, 'F': 2.167, 'p': 0.262}
    """
    _check_type(typ)
    _check_factors(data, factors)
    values = _check_response(data, response)
    if response in factors:
        raise ValueError(
            f"{response!r} is both the response and a factor: leave it out of the factors."
        )
    terms = _terms(len(factors), _order(len(factors), interactions))
    frame = _factor_frame(data, factors).assign(y=values)
    model = smf.ols(f"y ~ {_formula(terms, typ)}", frame).fit()
    _check_residual(int(model.df_resid), factors)
    _warn_if_deficient(int(round(len(values) - model.df_resid)), model.model.exog, factors)
    with warnings.catch_warnings():
        # Our own warning says it better, and once.
        warnings.simplefilter("ignore", ValueWarning)
        table = anova_lm(model, typ=typ)
    table = table.drop(index=["Residual", "Intercept"], errors="ignore")
    return _with_effect_sizes(
        pd.DataFrame(
            {
                "sum_sq": table["sum_sq"].to_numpy(dtype=float),
                "df": table["df"].to_numpy(dtype=float),
                "F": table["F"].to_numpy(dtype=float),
                "p": table["PR(>F)"].to_numpy(dtype=float),
            },
            index=pd.Index(_names(terms, factors), name="term"),
        ),
        n=len(values),
        df_resid=int(model.df_resid),
        sum_sq_resid=float(model.ssr),
        sum_sq_total=float(model.centered_tss),
    )


def _with_effect_sizes(
    table: pd.DataFrame, *, n: int, df_resid: int, sum_sq_resid: float, sum_sq_total: float
) -> pd.DataFrame:
    return table.assign(
        n=n,
        omega_sq=omega_squared(table["F"], table["df"], n),
        eta_sq=eta_squared(table["sum_sq"], sum_sq_total),
        partial_eta_sq=partial_eta_squared(table["sum_sq"], sum_sq_resid),
        df_resid=df_resid,
    )[list(COLUMNS)]


def _check_residual(df_resid: int, factors: Sequence[str]) -> None:
    if df_resid < 1:
        raise ValueError(
            f"The design {list(factors)} leaves {df_resid} residual degrees of freedom: use fewer "
            "factors or interactions, or more rows."
        )


def _warn_if_deficient(rank: int, exog: FloatArray, factors: Sequence[str]) -> None:
    if rank < exog.shape[1]:
        warnings.warn(
            f"The design {list(factors)} has rank {rank} for {exog.shape[1]} columns: cells are "
            "empty, and the table follows statsmodels' minimum-norm solution; see design_support "
            "and supported_anova.",
            RankDeficientDesignWarning,
            stacklevel=3,
        )


def anova_table(
    data: pd.DataFrame,
    responses: Sequence[str],
    designs: Mapping[str, Sequence[str]],
    *,
    typ: int = 2,
    interactions: Interactions = "full",
) -> pd.DataFrame:
    """ANOVA of many responses under many designs.

    Parameters
    ----------
    data : pandas.DataFrame
        One row an observation.
    responses : sequence of str
        Numeric columns.
    designs : mapping of str to sequence of str
        Name of a design and its factors.
    typ, interactions
        As in :func:`anova`.

    Returns
    -------
    pandas.DataFrame
        Long: columns ``design``, ``response``, ``term`` and those of :func:`anova`; designs in the
        mapping's order, within them responses in the given order, within them terms.

    Raises
    ------
    ValueError
        As :func:`anova`; also if there is no response or no design.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"x": [1, 2, 3, 4], "y": [1, 3, 2, 5], "a": list("ppqq"), "b": list("rsrs")}
    ... )
    >>> table = anova_table(frame, ["x", "y"], {"one": ["a"], "two": ["b"]})
    >>> table[["design", "response", "term", "F"]].values.tolist()  # doctest: +ELLIPSIS
    [['one', 'x', 'a', 8.0...], ['one', 'y', 'a', 0.69...], ...]
    """
    if not len(responses) or not designs:
        raise ValueError(
            f"There are {len(responses)} responses and {len(designs)} designs: give at least one "
            "of each."
        )
    parts = [
        anova(data, response, factors, typ=typ, interactions=interactions)
        .reset_index()
        .assign(design=name, response=response)
        for name, factors in designs.items()
        for response in responses
    ]
    return pd.concat(parts, ignore_index=True)[["design", "response", "term", *COLUMNS]]
