"""`everycell diff --format html`: two results folders side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from everycell.cli import project
from everycell.cli.printing import difference_lines
from everycell.receipts.diff import Difference
from everycell.records.papers import Artefact, all_artefacts
from everycell.render.grid import Grid
from everycell.render.page.pages import standalone_page
from everycell.render.page.tiers import TierOnPage
from everycell.render.verdict_tables import VerdictCell, verdict_grid
from everycell.render.vocabulary import label
from everycell.verdicts.reports import JudgedCell, JudgedClaim
from everycell.verdicts.results import result_of


@dataclass(frozen=True)
class Side:
    """A result in one of the folders; ids of cells on the page begin with its `prefix`."""

    tier: TierOnPage
    prefix: str

    @classmethod
    def read(cls, artefact: Artefact, tier: Any, folder: Path, prefix: str) -> Self:
        """Read the result from a folder."""
        result = result_of(artefact, tier, folder, project.ROOT, audits=None)
        return cls(TierOnPage(result, folder, ()), prefix)

    @property
    def cells(self) -> list[VerdictCell]:
        """Compared cells with the ids of this side."""
        return [replace(cell, id=f"{self.prefix}-{cell.id}") for cell in self.tier.cells]

    @property
    def grid(self) -> Grid[VerdictCell]:
        """Compared cells in the layout of the record."""
        return verdict_grid(self.tier.artefact, self.cells)


@dataclass(frozen=True)
class Pair:
    """A result in both folders, with the lines that explain its differences."""

    difference: Difference
    lines: list[str]
    label: str
    sides: list[Side]

    @property
    def marked(self) -> list[str]:
        """Ids of the cells whose value or verdict differs."""
        outcomes = [
            {_key(cell.judged): _outcome(cell.judged) for cell in side.cells} for side in self.sides
        ]
        return [
            cell.id
            for side in self.sides
            for cell in side.cells
            if len({by_key.get(_key(cell.judged)) for by_key in outcomes}) > 1
        ]

    @property
    def claims(self) -> list[tuple[JudgedClaim, ...]]:
        """Each claim in both folders."""
        return [*zip(*(side.tier.report.claims for side in self.sides), strict=False)]


def _key(cell: JudgedCell) -> tuple[str, ...]:
    return tuple(cell.key.values())


def _outcome(cell: JudgedCell) -> tuple[object, str]:
    return cell.reproduced, cell.verdict_and_source


def diff_page(differences: Sequence[Difference], first: Path, second: Path, max_cells: int) -> str:
    """One page with the results of both folders side by side."""
    artefacts = {artefact.id: artefact for artefact in all_artefacts(project.papers())}
    pairs = [_pair(one, artefacts, first, second, max_cells) for one in differences]
    return standalone_page("diff.html.j2", pairs=pairs, folders=[first, second]).decode()


def _pair(
    difference: Difference,
    artefacts: Mapping[str, Artefact],
    first: Path,
    second: Path,
    max_cells: int,
) -> Pair:
    tier, _, name = difference.name.partition("/")
    lines = [] if difference.is_same else difference_lines(difference, first, second, max_cells)
    artefact = artefacts.get(name)
    if artefact is None or difference.only_in:  # such as the job that checks the errata
        return Pair(difference, lines, difference.name, [])
    sides = [
        Side.read(artefact, tier, folder, prefix)
        for folder, prefix in ((first, "first"), (second, "second"))
    ]
    return Pair(difference, lines, f"{label(artefact.name)} of {artefact.paper} ({tier})", sides)
