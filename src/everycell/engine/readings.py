"""Readings: results for each of several settings, where a paper does not settle which one it used.

The rebuilt table and that of the seeds have a column more than the print, which names the reading.
All printed cells are compared with the same reading, chosen by a rule that no card can change: the
one with which most of them are equal after rounding, the first if two tie. Tolerances do not count,
as they would favour the reading whose training runs differ most. On surrogate data the first one
is taken.
"""

from __future__ import annotations

import pandas as pd

from everycell.engine.artefacts import Artefact
from everycell.engine.conclusions import FindTable
from everycell.engine.judging import judge
from everycell.engine.spread import SEEDS


def compared_reading(
    artefact: Artefact, table: pd.DataFrame, beside: FindTable, *, surrogate: bool
) -> tuple[pd.DataFrame, FindTable, str]:
    """Rebuilt table and tables beside in the reading that the print is compared with, and why."""
    column = artefact.card.readings
    if column is None or column not in table:
        return table, beside, ""
    equal = {
        reading: 0 if surrogate else _equal_cells(artefact, part)
        for reading, part in table.astype({column: str}).groupby(column, sort=False)
    }
    chosen = max(equal, key=lambda reading: equal[reading])
    others = ", ".join(
        f"{column} = {reading}: {count}" for reading, count in equal.items() if reading != chosen
    )
    why = (
        f"Compared with the reading {column} = {chosen}, with which {equal[chosen]} of "
        f"{len(artefact.cells)} cells are equal ({others})."
    )

    def of_reading(table: pd.DataFrame) -> pd.DataFrame:
        return table[table[column].astype(str) == chosen].drop(columns=column)

    def find(name: str) -> pd.DataFrame | None:
        found = beside(name)
        return found if found is None or name != SEEDS else of_reading(found)

    return of_reading(table), find, why


def _equal_cells(artefact: Artefact, table: pd.DataFrame) -> int:
    """Number of printed cells to which the rebuilt value rounds."""
    keys = artefact.key_columns
    rebuilt = dict(
        zip(table[keys].astype(str).itertuples(False, None), table["value"], strict=True)
    )
    cells = zip(
        artefact.cells[keys].itertuples(False, None),
        artefact.cells["value"],
        artefact.precisions,
        strict=True,
    )
    return sum(
        judge(printed, rebuilt[key], digits, measured=measured) == "equal"
        for key, printed, (digits, measured) in cells
        if key in rebuilt
    )
