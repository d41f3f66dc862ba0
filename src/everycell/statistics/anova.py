"""Analysis of variance of categorical designs.

Three ways to the same table:

- :func:`anova`: one response, through statsmodels (the reference);
- :class:`FastAnova`: one design, many responses at once (simulations), the same numbers;
- :func:`supported_anova`: what a design with empty cells really supports, by comparing nested
  models with the degrees of freedom that their ranks leave.

Designs with empty cells
------------------------
When cells of the design are empty, some columns of the design matrix are sums of others, and the
coefficients are no longer unique. statsmodels then takes the coefficients of least norm (a
pseudo-inverse), which spreads an effect evenly over the columns that cannot be told apart. In the
viewpoints study of lajewska2025 (chapter 4) no response is balanced without being diverse, so the
columns "balance" and "diversity:balance" are the same. The type II test of balance then compares
two coefficients that are equal by construction: 0/0, which the print shows as p = 1, while the
whole effect of balance appears in the interaction row.

In floating point that 0/0 is a ratio of rounding errors. statsmodels gives F = 0 and p = 1 for
the released files as they stand, but other F values for 32 of 200 random orders of the same rows,
with p down to 1e-108. This module takes what is zero but for rounding as zero, so that such a test
is F = 0 and p = 1 always, and all else is statsmodels' minimum-norm answer. That answer still
depends on the coding (treatment coding, the first level in sorted order as the reference, as in
statsmodels), so on designs with empty cells, and only there, it changes when levels are renamed.
:func:`design_support` shows whether a design is affected; :func:`supported_anova` gives the answer
that does not depend on the coding and that R gives.
"""

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
import statsmodels.formula.api as smf
from scipy.special import fdtrc
from statsmodels.stats.anova import anova_lm

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
        response that is not numeric, not finite or constant, no residual degrees of freedom, or
        type III on a design with empty cells.

    Warns
    -----
    RankDeficientDesignWarning
        If cells are empty so that terms cannot be told apart. Type II is then the minimum-norm
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
    _check_type(typ)
    _check_factors(data, factors)
    values = _check_response(data, response)
    if response in factors:
        raise ValueError(
            f"{response!r} is both the response and a factor: leave it out of the factors."
        )
    fast = FastAnova(data, factors, typ=typ, interactions=interactions)
    if not fast.full_rank:
        return fast.fit(values).table()
    terms = _terms(len(factors), _order(len(factors), interactions))
    frame = _factor_frame(data, factors).assign(y=values)
    model = smf.ols(f"y ~ {_formula(terms, typ)}", frame).fit()
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
            "empty, and type II follows statsmodels' minimum-norm solution; see design_support "
            "and supported_anova.",
            RankDeficientDesignWarning,
            stacklevel=3,
        )


@dataclass(frozen=True)
class AnovaResults:
    """ANOVA of many responses on one design.

    Attributes
    ----------
    terms : tuple of str
        The t terms.
    df : numpy.ndarray, shape (t,)
        Degrees of freedom of each term (nominal ones in the minimum-norm solution).
    df_resid : int
        Residual degrees of freedom, 1 or more.
    n : int
        Rows of the design.
    sum_sq, f, p : numpy.ndarray, shape (t, m)
        Sum of squares, F value and p-value of each term (row) and response (column). NaN where
        the term has no degree of freedom or the response does not vary.
    sum_sq_resid, sum_sq_total : numpy.ndarray, shape (m,)
        Residual sum of squares, and that about the mean.
    """

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
        return _with_effect_sizes(
            pd.DataFrame(
                {
                    "sum_sq": self.sum_sq[:, column],
                    "df": self.df,
                    "F": self.f[:, column],
                    "p": self.p[:, column],
                },
                index=pd.Index(self.terms, name="term"),
            ),
            n=self.n,
            df_resid=self.df_resid,
            sum_sq_resid=float(self.sum_sq_resid[column]),
            sum_sq_total=float(self.sum_sq_total[column]),
        )


class FastAnova:
    """ANOVA of one design, prepared once and then applied to many responses.

    All that depends on the design alone is computed once: each term becomes a few orthonormal
    vectors, whose products with a response, squared and summed, are its sum of squares. All terms
    of all responses then cost a few matrix products.

    Parameters
    ----------
    data : pandas.DataFrame, n rows
        Only the factors are read.
    factors, typ, interactions
        As in :func:`anova`.
    solution : {"minimum_norm", "supported"}
        What type II does when cells are empty: statsmodels' answer, or the comparison of nested
        models with the degrees of freedom that the design supports (see
        :func:`supported_anova`). Otherwise both are the same.

    Attributes
    ----------
    terms : tuple of str
        Main effects first, then pairs, and so on.
    df : numpy.ndarray, shape (t,)
        Degrees of freedom of each term.
    n, rank, df_resid : int
        Rows, rank of the design matrix, residual degrees of freedom.
    full_rank : bool
        Whether every term has its nominal degrees of freedom.

    Raises
    ------
    ValueError
        For bad factors as in :func:`anova`; for an unknown solution; for type III on a design
        that lacks rank, where no answer is independent of the coding (statsmodels' one even
        changes when a constant is added to the response).

    Notes
    -----
    The tests hold all types to 1e-9 of statsmodels on designs of full rank, and type II also on
    designs like the rank-deficient ones of the viewpoints study, but for the terms that are 0/0
    there (see the module's text). Type I of statsmodels is an unpivoted QR, in which an empty cell
    leaves a column of rounding noise; here such a term has 0 degrees of freedom and NaN.

    Examples
    --------
    >>> frame = pd.DataFrame({"kind": list("aabbcc")})
    >>> fast = FastAnova(frame, ["kind"])
    >>> responses = np.array([[1, 2, 3, 4, 2, 4], [1, 1, 2, 2, 3, 4]]).T
    >>> fast.fit(responses).f.round(3).tolist()
    [[2.167, 19.0]]
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
        _check_type(typ)
        _check_factors(data, factors)
        if solution not in ("minimum_norm", "supported"):
            raise ValueError(f"solution is {solution!r}: give 'minimum_norm' or 'supported'.")
        terms = _terms(len(factors), _order(len(factors), interactions))
        exog, columns = _design(data, factors, terms, typ)
        self._space = _basis(exog)
        self.n, self.rank = len(exog), self._space.shape[1]
        self.df_resid = self.n - self.rank
        self.full_rank = self.rank == exog.shape[1]
        self.terms = tuple(_names(terms, factors))
        _check_residual(self.df_resid, factors)
        if typ == 3 and not self.full_rank:
            raise ValueError(
                f"The design {list(factors)} has empty cells (rank {self.rank} for "
                f"{exog.shape[1]} columns), so type III has no answer that is independent of the "
                "coding: use typ=1 or typ=2."
            )
        minimum_norm = solution == "minimum_norm" and typ == 2 and not self.full_rank
        if minimum_norm:
            _warn_if_deficient(self.rank, exog, factors)
            pinv = np.linalg.pinv(exog, rtol=_RANK_TOLERANCE)
            bases = [_minimum_norm_basis(term, terms, columns, pinv) for term in terms]
        else:
            bases = [_added(exog, *pair) for pair in _nested(terms, columns, typ)]
        widths = np.array([basis.shape[1] for basis in bases])
        self.df = np.array(
            [columns[term].stop - columns[term].start for term in terms]
            if minimum_norm
            else widths,
            dtype=float,
        )
        # Nothing to test: F = 0 under the minimum-norm solution, undefined otherwise.
        self._tested = np.where(widths > 0, widths, 1.0 if minimum_norm else np.nan)
        self._vectors = np.hstack(bases)
        # One row a term, 1 where the vector belongs to it: sums the squares term by term.
        self._sums = np.repeat(np.eye(len(terms)), widths, axis=1)

    def fit(self, responses: npt.ArrayLike) -> AnovaResults:
        """ANOVA of each column.

        Parameters
        ----------
        responses : array, shape (n,) or (n, m)
            Finite numbers; row i belongs to row i of the data.

        Returns
        -------
        AnovaResults
            A constant response gives NaN, so that a simulated study in which all answer alike
            does not stop the others.

        Raises
        ------
        ValueError
            If the number of rows is not n, or a value is not finite.
        """
        y = np.asarray(responses, dtype=float)
        y = y[:, None] if y.ndim == 1 else y
        if y.ndim != 2 or y.shape[0] != self.n:
            raise ValueError(
                f"The responses have the shape {np.shape(responses)}: give {self.n} rows, one for "
                "each row of the design, and a column for each response."
            )
        if not np.isfinite(y).all():
            row, column = np.argwhere(~np.isfinite(y))[0]
            raise ValueError(
                f"The response in column {column} is {y[row, column]} in row {row}: give finite "
                "numbers only."
            )
        constant = np.ptp(y, axis=0) == 0
        total = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
        resid = ((y - self._space @ (self._space.T @ y)) ** 2).sum(axis=0)
        explained = self._sums @ (self._vectors.T @ y) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            mean_sq = explained / self._tested[:, None]
            f = mean_sq / (resid / self.df_resid)
            f[:, constant] = np.nan
            # statsmodels backs the sum of squares out of F with the nominal degrees of freedom.
            sum_sq = mean_sq * self.df[:, None]
            p = fdtrc(self._tested[:, None], self.df_resid, f)
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
        As :func:`anova`, but ``df`` is what the design supports. A term that cannot be told apart
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
    No row is balanced without being diverse, so the interaction cannot be told from "balanced":

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
    _check_factors(data, factors)
    values = _check_response(data, response)
    fast = FastAnova(data, factors, typ=typ, interactions=interactions, solution="supported")
    return fast.fit(values).table()


@dataclass(frozen=True)
class DesignSupport:
    """What a design can tell apart.

    Attributes
    ----------
    n, columns, rank, df_resid : int
        Rows, columns of the design matrix, its rank and the residual degrees of freedom.
    cells : int
        Number of cells of the full crossing.
    empty_cells : pandas.DataFrame
        One row an empty cell, one column a factor.
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
    terms = _terms(len(factors), _order(len(factors), interactions))
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


def _design(
    data: pd.DataFrame, factors: Sequence[str], terms: Sequence[tuple[int, ...]], typ: int
) -> tuple[FloatArray, dict[tuple[int, ...], slice]]:
    """Design matrix as statsmodels makes it, and the columns of each term."""
    matrix = patsy.dmatrix(_formula(terms, typ), _factor_frame(data, factors))
    slices = list(matrix.design_info.term_slices.values())
    # patsy puts the intercept first and then keeps our order: by size, then by factor.
    return np.asarray(matrix), dict(zip(terms, slices[1:], strict=True))


def _basis(matrix: FloatArray, scale: float | None = None) -> FloatArray:
    """Orthonormal basis of the columns' span; `scale` is what counts as a length of one."""
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    largest = s.max(initial=0.0) if scale is None else scale
    return u[:, s > _RANK_TOLERANCE * largest]


def _added(exog: FloatArray, known: list[int], tested: list[int]) -> FloatArray:
    """Basis of what the columns `tested` add to the span of the columns `known`."""
    basis = _basis(exog[:, known])
    columns = exog[:, tested]
    rest = columns - basis @ (basis.T @ columns)
    return _basis(rest, scale=float(np.linalg.norm(columns)))


def _nested(
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


def _minimum_norm_basis(
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
        constraint = u[:, int((s > _RANK_TOLERANCE * scale).sum()) :].T @ both
    else:
        constraint = both
    weights = constraint @ pinv
    u, s, _ = np.linalg.svd(weights @ weights.T, hermitian=True)
    keep = s > _RANK_TOLERANCE * scale
    return (weights.T @ u[:, keep]) / np.sqrt(s[keep])
