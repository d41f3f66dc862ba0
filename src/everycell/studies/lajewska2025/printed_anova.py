"""Printed tables of ANOVAs: rows with p-values, and the effect size behind a printed letter."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from everycell.engine.audits import rows_where

#: The chapters' significance level (L979).
ALPHA = 0.05


def p_values(table: pd.DataFrame, **key: str | list[str]) -> pd.DataFrame:
    """Rows with p-values of a table of ANOVAs, as numbers."""
    return rows_where(table, metric="p_value", **key).astype({"value": float})


def named_rows(rows: pd.DataFrame, *columns: str) -> Iterator[str]:
    """One line per row: its key columns and its value."""
    for _, row in rows.iterrows():
        yield f"{' '.join(row[list(columns)])} {row['value']}"


def omega_squared(f: float, df: int, n: int) -> float:
    """Unbiased effect size of a term with `df` degrees of freedom at `n` ratings.

    Examples
    --------
    >>> round(omega_squared(f=1.0, df=1, n=60), 3)
    0.0
    """
    return df * (f - 1) / (df * (f - 1) + n)
