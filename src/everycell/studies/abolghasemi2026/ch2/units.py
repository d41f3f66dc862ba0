"""Units of the values in chapter 2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from everycell.studies.abolghasemi2026.ch2.oracle import ORACLE_ROWS


def published_units(table: pd.DataFrame, columns: Sequence[str] = ("value",)) -> pd.DataFrame:
    """Convert MAP to percent and add the column ``unit``."""
    percent = table["metric"].str.startswith("MAP")
    if "row" in table:
        percent &= ~table["row"].isin(list(ORACLE_ROWS)[1:])
    result = table.assign(unit=np.where(percent, "percent", ""))
    for column in columns:
        result[column] = table[column].where(~percent, table[column] * 100)
    return result
