"""ANOVA tables as tidy cells: one row per printed value."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import pandas as pd

from everycell.statistics.anova import anova, supported_anova
from everycell.statistics.designs import RankDeficientDesignWarning
from everycell.statistics.effect_size import EffectScale

#: Between the factors of an interaction, as the papers print it.
TIMES = " x "


def anova_cells(
    data: pd.DataFrame,
    responses: Sequence[str],
    factors: Sequence[str],
    scale: EffectScale,
    *,
    containing: str | None = None,
) -> pd.DataFrame:
    """Type II ANOVA of several responses as cells: p-value and effect size of each term.

    Designs with empty cells follow statsmodels' minimum-norm solution, as the papers do;
    `supported_cells` gives what such a design supports.

    Parameters
    ----------
    data
        One row per observation.
    responses, factors
        Numeric and categorical columns.
    scale
        Names of the effect sizes (omega squared).
    containing
        Keep only terms that contain this factor, one of `factors`.

    Returns
    -------
    pandas.DataFrame
        Columns dependent_variable, independent_variable (factors joined by " x "), metric
        ("p_value", in [0, 1]; "effect_size", a name of the scale) and value.

    Examples
    --------
    >>> from everycell.statistics.effect_size import CULPEPPER
    >>> frame = pd.DataFrame({"rating": [1, 2, 3, 4, 2, 4], "kind": list("aabbcc")})
    >>> anova_cells(frame, ["rating"], ["kind"], CULPEPPER)["value"].tolist()[1]
    'L'
    """
    return _cells(data, responses, factors, scale, containing, anova)


def supported_cells(
    data: pd.DataFrame,
    responses: Sequence[str],
    factors: Sequence[str],
    scale: EffectScale,
    *,
    containing: str | None = None,
) -> pd.DataFrame:
    """Type II ANOVA by comparison of nested models: what a design with empty cells supports.

    Parameters
    ----------
    data, responses, factors, scale, containing
        As in `anova_cells`.

    Returns
    -------
    pandas.DataFrame
        As `anova_cells`, with the metrics df, F, p_value, omega_squared and effect_size. A term
        that the empty cells leave without a degree of freedom has df 0 and no other cell.

    Examples
    --------
    >>> from everycell.statistics.effect_size import CULPEPPER
    >>> frame = pd.DataFrame({"rating": [1, 2, 4, 3, 2, 4], "a": list("001111"),
    ...                       "b": list("000011")})
    >>> found = supported_cells(frame, ["rating"], ["a", "b"], CULPEPPER)
    >>> found[found["metric"] == "df"]["value"].tolist()
    [1, 1, 0]
    """
    return _cells(data, responses, factors, scale, containing, supported_anova)


def _cells(
    data: pd.DataFrame,
    responses: Sequence[str],
    factors: Sequence[str],
    scale: EffectScale,
    containing: str | None,
    analyse: Callable[[pd.DataFrame, str, Sequence[str]], pd.DataFrame],
) -> pd.DataFrame:
    if containing is not None and containing not in factors:
        raise ValueError(
            f"containing is {containing!r}, which is not a factor: give one of {list(factors)}."
        )
    cells: list[tuple[str, str, str, object]] = []
    for response in responses:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankDeficientDesignWarning)
            table = analyse(data, response, factors)
        for term, row in table.iterrows():
            if containing is not None and containing not in str(term).split(":"):
                continue
            p_value, size = float(row["p"]), scale.label(row["omega_sq"])
            measures: dict[str, object] = {"p_value": p_value, "effect_size": size}
            if analyse is supported_anova:
                tested = {"F": row["F"], "p_value": p_value, "omega_squared": row["omega_sq"]}
                measures = {"df": int(row["df"])}
                if row["df"]:
                    measures |= tested | {"effect_size": size}
            name = str(term).replace(":", TIMES)
            cells += [(response, name, measure, value) for measure, value in measures.items()]
    return pd.DataFrame(
        cells, columns=["dependent_variable", "independent_variable", "metric", "value"]
    )
