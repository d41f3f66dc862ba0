"""Claims that emphasis suggests: bold for the best of a column, underlined for the second."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pandas as pd

from everycell.cli.importing.rows import shorten
from everycell.records.cells import as_number, key_columns

#: Notes on emphasised values.
BOLD, UNDERLINED = "bold", "underlined"


class Offer(NamedTuple):
    """A claim that a bold or underlined value suggests, which the author confirms or deletes."""

    id: str
    sentence: str
    predicate: dict[str, Any]


def emphasised_claims(cells: pd.DataFrame) -> tuple[list[Offer], list[str]]:
    """Claims that emphasis suggests, and emphasised values that are not the best of their column.

    A column has the values of one measure, in one collection if the table has several.
    """
    keys = key_columns(cells)
    across = [key for key in ("collection", "group", "metric") if key in keys]
    if "note" not in cells or not across:
        return [], []
    down = [key for key in keys if key not in across]
    offers: list[Offer] = []
    faults: list[str] = []
    if len(down) != 1:
        return [], []
    (system,) = down
    for names, column in cells.groupby(across, sort=False):
        selector = dict(zip(across, names, strict=True))
        heading = " / ".join(selector.values())
        numbers = column["value"].map(as_number)
        bold = column["note"].str.contains(BOLD)
        if any(re.fullmatch(r"column \d+", name) for name in names):
            continue  # The column has no heading to claim something of.
        if not bold.any() or numbers[bold].isna().any() or len(column) < 2:
            continue
        values = numbers.dropna()
        best = numbers[bold]
        op = next(
            (op for op, limit in (("highest", values.max()), ("lowest", values.min()))
             if (best == limit).all()),
            None,
        )  # fmt: skip
        if op is None:
            emphasised_values = shorten(column.loc[bold, "value"])
            faults.append(
                f"{heading}: no claim is offered, since bold {emphasised_values} is neither the "
                "highest nor the lowest value."
            )
            continue
        order = values.sort_values(ascending=op == "lowest").unique()
        second = column["note"].str.contains(UNDERLINED) & ~bold
        emphasised = [(index, 1) for index in column.index[bold]]
        position = 1 + int(bold.sum())
        if second.any() and len(order) > 1:
            if (numbers[second] == order[1]).all():
                emphasised += [(index, position) for index in column.index[second]]
            else:
                emphasised_values = shorten(column.loc[second, "value"])
                faults.append(
                    f"{heading}: underlined {emphasised_values} is not the second best value."
                )
        for index, rank in emphasised:
            name = column.at[index, system]
            rivals = [other for other in column.loc[values.index, system] if other != name]
            words = {1: f"the {op}", position: f"the second {op}"}[rank]
            offers.append(
                Offer(
                    f"emphasised_{len(offers) + 1}",
                    f"{name} has {words} {heading.removesuffix('.')}.",
                    {"cells": {system: name, **selector}, "op": op, "among": {system: rivals}}
                    | ({"position": rank} if rank > 1 else {}),
                )
            )
    return offers, faults
