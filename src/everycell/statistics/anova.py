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
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import patsy
import statsmodels.formula.api as smf
from scipy.special import fdtrc
from statsmodels.stats.anova import anova_lm
from statsmodels.tools.sm_exceptions import SingularMatrixWarning, ValueWarning
from statsmodels.tools.tools import pinv_extended

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
    with warnings.catch_warnings():
        # Of an empty cell statsmodels warns three times an ANOVA; our own warning says it once.
        warnings.simplefilter("ignore", SingularMatrixWarning)
        warnings.simplefilter("ignore", ValueWarning)
        model = smf.ols(f"y ~ {_formula(terms, typ)}", frame).fit()
        _check_residual(int(model.df_resid), factors)
        table = anova_lm(model, typ=typ)
    _warn_if_deficient(len(values) - int(model.df_resid), model.model.exog, factors)
    table = table.drop(index=["Residual", "Intercept"], errors="ignore")
    # An effect of zero comes out as rounding noise of either sign.
    table[["sum_sq", "F"]] = table[["sum_sq", "F"]].clip(lower=0.0)
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

    All that depends on the design alone (pseudo-inverse, the quadratic form of each term) is
    computed once; all terms of all responses then cost a few matrix products.

    Parameters
    ----------
    data : pandas.DataFrame, n rows
        Only the factors are read.
    factors, typ, interactions
        As in :func:`anova`.
    solution : {"minimum_norm", "supported"}
        What to do when cells are empty: statsmodels' answer, or the comparison of nested models
        with the degrees of freedom that the design supports (see :func:`supported_anova`). On a
        design of full rank both are the same.

    Attributes
    ----------
    terms : tuple of str
    n, rank, df_resid : int

    Raises
    ------
    ValueError
        For bad factors as in :func:`anova`; for an unknown solution; for ``solution="supported"``
        with type III on a design that lacks rank, where no answer is independent of the coding.

    Notes
    -----
    Type I follows statsmodels (a QR without pivoting) and types II and III too (a Wald test with
    the pseudo-inverse); the tests hold them to 1e-9 of statsmodels, on designs like the
    rank-deficient ones of the viewpoints study as well. On designs that lack most of their cells
    (explanation quality x presentation mode of chapter 7: 5 of 9 cells) the pseudo-inverse keeps
    singular values that are rounding noise, and statsmodels' own type III or three-way result is
    then stable to about 1e-3 only: use ``solution="supported"`` there.

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
        self.n = len(exog)
        self.terms = tuple(_names(terms, factors))
        self._exog = exog
        if solution == "supported":
            basis = _basis(exog)
            self.rank = basis.shape[1]
            # Any coefficients with the right fitted values will do: here those of least norm.
            self._pinv = np.linalg.pinv(exog, rtol=_RANK_TOLERANCE)
            if typ == 3 and self.rank < exog.shape[1]:
                raise ValueError(
                    f"The design {list(factors)} has empty cells (rank {self.rank} for "
                    f"{exog.shape[1]} columns), so type III has no answer that is independent of "
                    "the coding: use typ=1 or typ=2."
                )
        else:
            self._pinv, singular = pinv_extended(exog)
            self.rank = int(np.linalg.matrix_rank(np.diag(singular)))
            _warn_if_deficient(self.rank, exog, factors)
        self.df_resid = self.n - self.rank
        _check_residual(self.df_resid, factors)
        # A term's sum of squares is a quadratic form: of the coefficients in statsmodels' Wald
        # tests, of the responses (squared lengths of projections) in all other cases.
        self._on_coefficients = solution == "minimum_norm" and typ > 1
        if self._on_coefficients:
            forms = [_wald_form(term, terms, columns, self._pinv, typ) for term in terms]
        elif solution == "minimum_norm":
            q = np.linalg.qr(exog)[0]
            forms = [_projection(q[:, columns[term]]) for term in terms]
        else:
            forms = [_projection(_added(exog, *pair)) for pair in _nested(terms, columns, typ)]
        self._forms = [(rows, weight) for rows, weight, _ in forms]
        self._tested = np.array([rank for _, _, rank in forms], dtype=float)
        self.df = np.array([len(rows) for rows, _, _ in forms], dtype=float)

    @property
    def full_rank(self) -> bool:
        """Whether every term has its nominal degrees of freedom."""
        return self.rank == self._exog.shape[1]

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
        coefficients = self._pinv @ y
        resid = ((y - self._exog @ coefficients) ** 2).sum(axis=0)
        vectors = coefficients if self._on_coefficients else y
        explained = np.stack([_quadratic(rows @ vectors, weight) for rows, weight in self._forms])
        # An effect of zero comes out as rounding noise of either sign.
        explained = np.maximum(explained, 0.0)
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


def _projection(basis: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Quadratic form of a projection on an orthonormal basis: rows, weights, degrees of freedom."""
    return basis.T, np.eye(basis.shape[1]), basis.shape[1]


def _quadratic(vectors: FloatArray, weight: FloatArray) -> FloatArray:
    """Value of v' W v for each column v; shape (m,)."""
    return np.einsum("im,im->m", vectors, weight @ vectors)


def _wald_form(
    term: tuple[int, ...],
    terms: Sequence[tuple[int, ...]],
    columns: Mapping[tuple[int, ...], slice],
    pinv: FloatArray,
    typ: int,
) -> tuple[FloatArray, FloatArray, int]:
    """Wald test of a term as statsmodels does it: constraint, weights, rank.

    The steps (a QR for the constraint, then numpy's pinv and matrix_rank with their own
    tolerances) are statsmodels', since on a design of deficient rank they shape the result.
    """
    identity = np.eye(len(pinv))
    covariance = pinv @ pinv.T
    constraint = identity[columns[term]]
    above = [other for other in terms if set(term) < set(other)] if typ == 2 else []
    if above:
        # Given the terms that contain it: the part of the hypothesis "this term and those above
        # are zero" that is orthogonal, in the metric of the covariance, to "those above are zero".
        higher = np.vstack([identity[columns[other]] for other in above])
        both = np.vstack([constraint, higher])
        q = np.linalg.qr(both @ covariance @ higher.T, mode="complete")[0]
        constraint = q[:, -len(constraint) :].T @ both
    spread = constraint @ covariance @ constraint.T
    return constraint, np.linalg.pinv(spread), int(np.linalg.matrix_rank(spread))
