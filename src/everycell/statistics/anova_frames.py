"""ANOVA tables in long format: one row per published value."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.statistics.anova import anova
from everycell.statistics.designs import RankDeficientDesignWarning, check_response
from everycell.statistics.effect_size import EffectScale
from everycell.statistics.fast_anova import FastAnova

#: Separator between the factors of an interaction, as in the papers.
TIMES = " x "
COLUMNS = ["dependent_variable", "independent_variable", "metric", "value"]


def anova_cells(
    data: pd.DataFrame,
    responses: Sequence[str],
    factors: Sequence[str],
    scale: EffectScale,
    *,
    containing: str | None = None,
) -> pd.DataFrame:
    """Type II ANOVA of several responses in long format: p-value and effect size per term.

    Designs with empty cells get statsmodels' minimum-norm solution, as in the papers;
    `supported_cells` compares nested models instead.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankDeficientDesignWarning)
        tables = {response: anova(data, response, factors) for response in responses}
    cells = [
        (*key, measure, value)
        for key, row in _term_rows(tables, factors, containing)
        for measure, value in (
            ("p_value", float(row["p"])),
            ("effect_size", scale.label(row["omega_sq"])),
        )
    ]
    return pd.DataFrame(cells, columns=COLUMNS)


def supported_cells(
    data: pd.DataFrame,
    responses: Sequence[str],
    factors: Sequence[str],
    scale: EffectScale,
    *,
    containing: str | None = None,
) -> pd.DataFrame:
    """Type II ANOVA by nested models, also valid for designs with empty cells."""
    values = [check_response(data, response, factors) for response in responses]
    results = FastAnova(data, factors, solution="supported").fit(np.column_stack(values))
    tables = {response: results.table(column) for column, response in enumerate(responses)}
    cells: list[tuple[object, ...]] = []
    for key, row in _term_rows(tables, factors, containing):
        cells.append((*key, "df", int(row["df"])))
        if row["df"]:
            cells.append((*key, "F", float(row["F"])))
            cells.append((*key, "p_value", float(row["p"])))
            cells.append((*key, "omega_squared", float(row["omega_sq"])))
            cells.append((*key, "effect_size", scale.label(row["omega_sq"])))
    return pd.DataFrame(cells, columns=COLUMNS)


def _term_rows(
    tables: Mapping[str, pd.DataFrame], factors: Sequence[str], containing: str | None
) -> Iterator[tuple[tuple[str, str], pd.Series]]:
    """Key (response, term) and row of each term, or of each term that contains a factor."""
    if containing is not None and containing not in factors:
        raise ValueError(
            f"containing is {containing!r}, which is not a factor: choose from {list(factors)}."
        )
    for response, table in tables.items():
        for term, row in table.iterrows():
            if containing is None or containing in str(term).split(":"):
                yield (response, str(term).replace(":", TIMES)), row
