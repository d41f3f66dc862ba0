"""The whole result as data: each cell of each tier, with its verdict, as one table."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.engine.counting import best_entries
from everycell.engine.render.page.vocabulary import Found
from everycell.engine.render.tables.layout import NO_KEYS

#: Names of the two files in a results folder.
CELLS_CSV = "cells.csv"
CELLS_PARQUET = "cells.parquet"
COLUMNS = [
    "work",
    "artefact",
    "tier",
    "state",
    "counts",
    "key",
    "printed",
    "rebuilt",
    "verdict",
    "kind",
    "origin",
    "flag",
    "difference",
    "tolerance",
    "cause",
    "explanation",
]


def cells_frame(found: Sequence[Found], folder: Path) -> pd.DataFrame:
    """Every cell of every artefact and tier."""
    best = best_entries(found)
    rows = [
        row
        for entry in found
        for row in _rows(entry, folder, counts=best.get(entry.artefact.id) is entry)
    ]
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)


def cells_files(found: Sequence[Found], folder: Path) -> dict[str, bytes]:
    """Name and content of the table of all cells as CSV and as Parquet.

    Examples
    --------
    >>> cells_files([], Path("results"))["cells.csv"].decode().strip()
    'work,artefact,tier,state,counts,key,printed,rebuilt,verdict,kind,origin,flag,difference,tolerance,cause,explanation'
    """
    frame = cells_frame(found, folder)
    parquet = io.BytesIO()
    frame.to_parquet(parquet, index=False)
    return {
        CELLS_CSV: frame.to_csv(index=False, lineterminator="\n").encode(),
        CELLS_PARQUET: parquet.getvalue(),
    }


def _rows(entry: Found, folder: Path, *, counts: bool) -> Iterator[list[str]]:
    artefact, report = entry.artefact, entry.report
    counted = "yes" if counts and report.state == "rebuilt" else ""
    about = [artefact.paper, artefact.name, entry.tier, report.state, counted]
    if report.state == "stand_in":
        run_on = report.foreign or artefact.card.tiers[entry.tier].name
        name = f"stand-in, not compared: {run_on}"
        for key, printed, value in _stand_in(entry, folder):
            yield [*about, _json(key), printed, value, *[""] * 7, name]
        return
    for cell in report.cells:
        rebuilt = "" if cell.rebuilt is None else str(cell.rebuilt)
        if cell.kind == "check":
            continue
        shown = [cell.printed, rebuilt, cell.verdict, cell.kind, cell.origin, cell.flag or ""]
        distances = ["" if x is None else f"{x:.6g}" for x in (cell.difference, cell.tolerance)]
        yield [*about, _json(cell.key), *shown, *distances, cell.cause, cell.why or ""]
    if not report.cells and report.state == "not_run" and not artefact.cells.empty:
        needs = artefact.card.tiers[entry.tier].needs
        for key, printed in _printed(entry).items():
            yield [*about, _json(dict(key)), printed, "", "not_run", *[""] * 6, needs]


def _printed(entry: Found) -> dict[tuple[tuple[str, str], ...], str]:
    """Key of each printed cell -> its value."""
    keys = entry.artefact.key_columns
    return {
        tuple((name, row[name]) for name in keys): row["value"]
        for row in entry.artefact.cells.to_dict("records")
    }


def _stand_in(entry: Found, folder: Path) -> Iterator[tuple[dict[str, str], str, str]]:
    artefact = entry.artefact
    if f"{artefact.name}.csv" not in entry.report.files:
        return
    path = folder / entry.tier / artefact.paper / f"{artefact.name}.csv"
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    keys = [column for column in table.columns if column not in NO_KEYS]
    alike = not artefact.cells.empty and set(keys) == set(artefact.key_columns)
    if alike:
        keys = artefact.key_columns
    printed = _printed(entry) if alike else {}
    for row in table.to_dict("records"):
        key = tuple((name, row[name]) for name in keys)
        yield dict(key), printed.get(key, ""), row.get("value", "")


def _json(key: Mapping[str, str]) -> str:
    return json.dumps(key, ensure_ascii=False)
