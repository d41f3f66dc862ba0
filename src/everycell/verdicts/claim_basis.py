"""Basis of the test of a claim: where the values that its comparisons read come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from everycell.records.cells import key_columns
from everycell.records.claims import Claim, Predicate
from everycell.records.papers import Artefact
from everycell.records.tables import State
from everycell.verdicts.comparisons import Cells
from everycell.verdicts.reports import CellOrigin, JudgedCell

#: Bases of tests of claims, from best to worst.
BASES = (
    "data",
    "published inputs",
    "given",
    "other cells",
    "constants",
    "quoted values",
    "surrogate data",
)


class Basis(NamedTuple):
    """Best origin among the comparisons of a claim; empty if its cells were not run."""

    name: str
    #: Whether any comparison reads a quoted value beside a computed one.
    with_quoted: bool = False


def basis_of_table(state: State, cells: Sequence[JudgedCell], origin: CellOrigin) -> str:
    """Basis of a result: the best origin among its cells, or that of its values without cells."""
    if state == "surrogate":
        return "surrogate data"
    origins = {cell.origin for cell in cells} or {origin}
    return next((basis for basis in BASES if basis in origins), "other cells")


def bases_of_claims(
    artefact: Artefact, state: State, cells: Sequence[JudgedCell], origin: CellOrigin
) -> list[Basis]:
    """Basis of each claim of an artefact, from the judged cells of its result."""
    table_basis = basis_of_table(state, cells, origin)
    origins = None if state == "surrogate" or not cells else _origins_of_cells(artefact, cells)
    return [_basis_of_claim(claim, table_basis, origins) for claim in artefact.record.claims]


def _origins_of_cells(artefact: Artefact, cells: Sequence[JudgedCell]) -> Cells:
    table: pd.DataFrame = artefact.cells.assign(value=[cell.origin for cell in cells])
    table = artefact.drop_labels(table)
    return Cells.of(table, key_columns(table))


def _basis_of_claim(claim: Claim, table_basis: str, cells: Cells | None) -> Basis:
    if table_basis == "surrogate data":
        return Basis(table_basis)
    origins: set[str] = set()
    with_quoted = False
    for part in claim.supported_if:
        if "reproduced" not in part.tested_on:
            continue
        # The cells of supplementary tables have the basis of the table.
        if cells is None or part.supplement is not None:
            origins.add(table_basis)
            continue
        for sides in _sides(part, cells):
            if sides & {None, "none"}:
                continue
            computed = sides - {"quoted"}
            with_quoted |= computed != sides and bool(computed)
            best = next((basis for basis in BASES if basis in computed), "quoted values")
            origins.add(best)
    name = next((basis for basis in BASES if basis in origins), "")
    return Basis(name, with_quoted)


def _sides(part: Predicate, cells: Cells) -> list[set[str | None]]:
    """Origins of the cells of each comparison; None for a missing cell."""
    return [
        {cells.read(cells.override_key(key, move)) for move in ({}, *part.moves)}
        for key in cells.select(part.cells, cells.names)
    ]
