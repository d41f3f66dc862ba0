"""Rows with p-values in the published ANOVA tables of lajewska2025 (chapters 4 and 7)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from everycell.verdicts.audits import rows_where

#: Significance level of chapters 4 and 7.
ALPHA = 0.05


def p_values(table: pd.DataFrame, **key: str | list[str]) -> pd.DataFrame:
    """Rows with p-values in an ANOVA table, as numbers."""
    return rows_where(table, metric="p_value", **key).astype({"value": float})


def format_rows(rows: pd.DataFrame, *columns: str) -> Iterator[str]:
    """One line per row: key columns, then the value."""
    for _, row in rows.iterrows():
        yield f"{', '.join(row[list(columns)])}: p = {row['value']}"
