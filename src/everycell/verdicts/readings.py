"""Readings: alternative settings where a paper does not specify which one it used.

The reproduced table, and any supplementary table, then has an extra column with the reading. All
published cells are compared with the same reading: the one with the most values that are equal
after rounding, or the first of several in a tie. No record can change this rule. Tolerances are
ignored, since they would favour the reading whose training runs differ most. On surrogate data, the
first reading is used.
"""

from __future__ import annotations

import pandas as pd

from everycell.records.folders import Tier
from everycell.records.papers import Artefact
from everycell.verdicts.claims import FindTable
from everycell.verdicts.judging import judge


def select_reading(
    artefact: Artefact, tier: Tier, table: pd.DataFrame, find_table: FindTable, *, surrogate: bool
) -> tuple[pd.DataFrame, FindTable, str]:
    """Restrict our tables to the reading to compare; also return why it was chosen."""
    column = artefact.record.readings
    if column is None or column not in table:
        return table, find_table, ""
    equal = {
        reading: [] if surrogate else _equalities(artefact, tier, part)
        for reading, part in table.astype({column: str}).groupby(column, sort=False)
    }
    best = max(equal, key=lambda reading: sum(equal[reading]))
    other_counts = "; ".join(
        f"{sum(cells)} with {column} = {reading}"
        for reading, cells in equal.items()
        if reading != best
    )
    why = (
        f"Compared with the reading {column} = {best}, with which {sum(equal[best])} of "
        f"{len(equal[best])} compared cells are equal{f' ({other_counts})' * bool(other_counts)}."
    )

    def of_reading(table: pd.DataFrame) -> pd.DataFrame:
        return table[table[column].astype(str) == best].drop(columns=column)

    def find(name: str) -> pd.DataFrame | None:
        supplement = find_table(name)
        has_readings = supplement is not None and column in supplement
        return of_reading(supplement) if has_readings else supplement

    return of_reading(table), find, why


def _equalities(artefact: Artefact, tier: Tier, table: pd.DataFrame) -> list[bool]:
    """Whether our value rounds to the published one, for each compared cell of the tier."""
    keys = artefact.key_columns
    values = dict(zip(table[keys].astype(str).itertuples(False, None), table["value"], strict=True))
    cells = zip(
        artefact.cells[keys].itertuples(False, None),
        artefact.cells["value"],
        artefact.precisions,
        artefact.is_compared(tier),
        strict=True,
    )
    return [
        key in values and judge(published, values[key], digits, measured=measured) == "equal"
        for key, published, (digits, measured), is_compared in cells
        if is_compared
    ]
