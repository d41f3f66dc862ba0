"""Counts of cells and claims for README, page, commands and docs.

Each artefact counts once: in the deepest tier that reproduces it, or else on surrogate data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict, TypeVar

from everycell.engine.artefacts import Artefact, Paper
from everycell.engine.cards import RUNNABLE
from everycell.engine.cell_classes import CellClass, classify_cells
from everycell.engine.claims import Conclusion, Predicate
from everycell.engine.comparisons import Cells
from everycell.engine.published_cells import key_columns
from everycell.engine.reports import (
    ON_REBUILT,
    OUTCOME_NAMES,
    UNCOUNTED,
    VERDICT_NAMES,
    VERDICTS,
    Report,
    Verdict,
)
from everycell.engine.tiers import TIERS, Tier

#: Verdicts on cells that were not compared.
UNCOMPARED: tuple[Verdict, ...] = ("quoted", "not_run")
#: Bases of tests of claims, from best to worst.
BASES = ("data", "published inputs", "given", "other cells", "constants", "surrogate data")
#: Outcomes of tests of claims; `varies` means that the outcome depends on the machine.
TESTED = ("holds", "fails", "undecided", "varies")
#: Basis and outcome of claims that were not tested.
NOT_RUN, UNTESTABLE = ("not run", ""), ("untestable", "")


class Entry(Protocol):
    """A report of an artefact in a tier, such as `everycell.engine.results.Result`."""

    @property
    def artefact(self) -> Artefact:
        """Record and published cells."""

    @property
    def tier(self) -> Tier:
        """Tier of the report."""

    @property
    def report(self) -> Report:
        """Content of a verdict file."""


AnEntry = TypeVar("AnEntry", bound=Entry)


@dataclass
class Counts:
    """Counts of the cells and claims of some artefacts."""

    artefacts: int = 0
    states: Counter[str] = field(default_factory=Counter)
    artefacts_without_data: int = 0
    cells: Counter[CellClass] = field(default_factory=Counter)
    claims: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __iadd__(self, other: Counts) -> Counts:
        """Add the counts of other artefacts."""
        self.artefacts += other.artefacts
        self.artefacts_without_data += other.artefacts_without_data
        for name in ("states", "cells", "claims"):
            getattr(self, name).update(getattr(other, name))
        return self

    def verdicts(
        self,
        *,
        kind: str | None = None,
        origin: str | Sequence[str] | None = None,
        flag: str | None = None,
    ) -> Counter[Verdict]:
        """Number of cells by verdict, optionally of one kind, of some origins or with a flag."""
        origins = (origin,) if isinstance(origin, str) else origin
        verdicts: Counter[Verdict] = Counter()
        for cell, count in self.cells.items():
            if (
                kind in (None, cell.kind)
                and (origins is None or cell.origin in origins)
                and flag in (None, cell.flag)
            ):
                verdicts[cell.verdict] += count
        return verdicts

    @property
    def published(self) -> int:
        """All published cells."""
        return self.cells.total()

    @property
    def reproduced(self) -> int:
        """Cells computed from data or from published inputs."""
        verdicts = self.verdicts(origin=("data", "published inputs"))
        return sum(verdicts[verdict] for verdict in ON_REBUILT)

    def outcomes(self, *bases: str) -> dict[str, int]:
        """Number of claims tested on any of these bases, by outcome."""
        return {outcome: sum(self.claims[basis, outcome] for basis in bases) for outcome in TESTED}

    @property
    def tested(self) -> int:
        """Claims that were tested on any basis."""
        return sum(self.outcomes(*BASES).values())

    @property
    def untestable(self) -> int:
        """Claims that are listed as untested, or that the surrogate data cannot test."""
        return self.claims[UNTESTABLE]

    @property
    def claimed(self) -> int:
        """All claims, tested or not."""
        return self.claims.total()


def count_chapters(
    papers: Mapping[str, Paper], entries: Iterable[Entry]
) -> dict[tuple[str, str], Counts]:
    """Count cells and claims of every chapter, by key of the paper and chapter."""
    best = best_entries(entries)
    chapters: dict[tuple[str, str], Counts] = {}
    for paper in papers.values():
        for chapter in paper.chapters:
            counts = chapters[paper.key, chapter] = Counts()
            counts.claims[UNTESTABLE] += len(paper.untested[chapter])
        for artefact in paper.artefacts.values():
            counts = chapters[paper.key, artefact.chapter]
            counts.artefacts += 1
            entry = best.get(artefact.id)
            classes = cells_of(artefact, entry)
            counts.cells.update(cell for cell in classes if cell.kind not in UNCOUNTED)
            counts.claims.update(claims_of(artefact, entry))
            if entry is None:
                states = {tier.state for tier in artefact.card.tiers.values()}
                state = next((s for s in ("quoted", "drawing") if s in states), "not_run")
                counts.states[state] += 1
                continue
            counts.states[entry.report.state] += 1
            counts.artefacts_without_data += basis_of(entry) == "other cells"
    return chapters


def cells_of(artefact: Artefact, entry: Entry | None) -> list[CellClass]:
    """Class of each published cell, including uncounted ones, in the result that counts."""
    if entry and entry.report.state == "rebuilt" and entry.report.cells:
        return [
            CellClass(cell.kind, cell.origin, cell.flag, cell.verdict)
            for cell in entry.report.cells
        ]
    quoted = any(tier.state == "quoted" for tier in artefact.card.tiers.values())
    verdict = "quoted" if quoted and entry is None else "not_run"
    classes = [cell.with_verdict(verdict) for cell in classify_cells(artefact, None)]
    if entry and entry.report.state == "stand_in":
        return [cell._replace(origin="surrogate data") for cell in classes]
    return classes


def claims_of(artefact: Artefact, entry: Entry | None) -> list[tuple[str, str]]:
    """Basis and outcome of each claim of an artefact in its result, if any."""
    if entry is None:
        return [NOT_RUN] * len(artefact.card.conclusions)
    outcomes, varies = [], artefact.card.tiers[entry.tier].varies
    basis_of_table, origins = basis_of(entry), _origins_of_cells(artefact, entry)
    for claim, judged in zip(artefact.card.conclusions, entry.report.conclusions, strict=True):
        outcome = judged.on_rebuilt
        if outcome == "not_testable":
            outcomes.append(UNTESTABLE)
        elif basis := _basis_of_claim(claim, basis_of_table, origins):
            outcomes.append((basis, "varies" if varies else outcome))
        else:
            outcomes.append(NOT_RUN)
    return outcomes


def _origins_of_cells(artefact: Artefact, entry: Entry) -> Cells | None:
    """Origins of the published cells as a table; None if none is compared."""
    if entry.report.state == "stand_in" or not entry.report.cells:
        return None
    table = artefact.cells.assign(value=[cell.origin for cell in entry.report.cells])
    table = artefact.drop_labels(table)
    return Cells.of(table, key_columns(table))


def _basis_of_claim(claim: Conclusion, basis_of_table: str, cells: Cells | None) -> str:
    """Best origin among the comparisons of a claim; "" if its cells were not run."""
    if basis_of_table == "surrogate data":
        return basis_of_table
    origins: set[str] = set()
    for part in claim.holds_if:
        if "rebuilt" in part.tested_on:
            # The cells of supplementary tables have the basis of the table.
            if cells is None or part.beside is not None:
                origins.add(basis_of_table)
            else:
                origins |= _origins(part, cells)
    return next((basis for basis in BASES if basis in origins), "")


def _origins(part: Predicate, cells: Cells) -> set[str]:
    """Best origins of the cells in each comparison; "none" if one of them was not run."""
    origins = set()
    for key in cells.select(part.cells, cells.names):
        sides = {cells.read(cells.override_key(key, move)) for move in ({}, *part.moves)}
        best = next((basis for basis in BASES if basis in sides), "other cells")
        origins.add("none" if sides & {None, "none"} else best)
    return origins


def best_entries(entries: Iterable[AnEntry]) -> dict[str, AnEntry]:
    """Result that counts for each artefact: reproduced if possible, then the deepest tier."""
    best: dict[str, AnEntry] = {}
    for entry in entries:
        current = best.get(entry.artefact.id)
        if entry.report.state in RUNNABLE and (current is None or _depth(entry) > _depth(current)):
            best[entry.artefact.id] = entry
    return best


def _depth(entry: Entry) -> tuple[bool, int]:
    return entry.report.state == "rebuilt", TIERS.index(entry.tier)


def basis_of(entry: Entry) -> str:
    """Basis of the claims of a result: the best origin among its cells."""
    if entry.report.state == "stand_in":
        return "surrogate data"
    origins = {cell.origin for cell in entry.report.cells} or {entry.report.origin}
    return next((basis for basis in BASES if basis in origins), "other cells")


def total(counts: Iterable[Counts]) -> Counts:
    """Sum of the counts of chapters."""
    sum_of_counts = Counts()
    for chapter_counts in counts:
        sum_of_counts += chapter_counts
    return sum_of_counts


class CellFilter(TypedDict, total=False):
    """Arguments of `Counts.verdicts`: values of columns of ``cells.csv``."""

    kind: str
    origin: str
    flag: str


#: Headlines: name -> filter of ``cells.csv``. The cells of a line that begins with "of them" are
#: part of another line; the other lines add up to all published values.
HEADLINES: dict[str, CellFilter] = {
    "numbers computed from data": {"kind": "number", "origin": "data"},
    "of them effectiveness measures": {"kind": "number", "origin": "data", "flag": "effectiveness"},
    "of them saturated p-values (published as 0.0 or 1.0)": {
        "kind": "number",
        "origin": "data",
        "flag": "saturated",
    },
    "numbers computed from published inputs": {"kind": "number", "origin": "published inputs"},
    "categories computed from data": {"kind": "category", "origin": "data"},
    "categories computed from published inputs": {"kind": "category", "origin": "published inputs"},
    "identifiers computed from data": {"kind": "identifier", "origin": "data"},
    "values computed elsewhere and given here": {"origin": "given"},
    "values computed from settings that the paper states, without data": {"origin": "constants"},
    "values derived from other published values": {"origin": "other cells"},
    "settings and values from other publications, quoted and not compared": {"origin": "quoted"},
    "values in tables run on surrogate data, not compared": {"origin": "surrogate data"},
    "values not run": {"origin": "none"},
}


#: Headlines of claims: name -> filter of ``claims.csv``.
CLAIM_LINES: dict[str, dict[str, tuple[str, ...]]] = {
    "reproduced values": {"basis": ("data", "published inputs")},
    "published values alone": {"basis": ("other cells",)},
    "given values": {"basis": ("given",)},
    "values computed from stated settings": {"basis": ("constants",)},
    "surrogate data": {"basis": ("surrogate data",)},
}


def headlines(counts: Counts) -> dict[str, Counter[Verdict]]:
    """Headlines with their verdicts, without empty ones."""
    lines = {name: counts.verdicts(**where) for name, where in HEADLINES.items()}
    return {name: verdicts for name, verdicts in lines.items() if verdicts.total()}


def headline(name: str, verdicts: Mapping[Verdict, int]) -> str:
    """Text of a headline, with the verdicts if any values were compared."""
    line = f"{sum(verdicts.values()):,} {name}"
    compared = any(number for verdict, number in verdicts.items() if verdict not in UNCOMPARED)
    return f"{line}: {describe_verdicts(verdicts)}" if compared else line


def claim_lines(counts: Counts) -> dict[str, str]:
    """Texts of the outcomes of claims, by basis."""
    lines = {}
    for name, where in CLAIM_LINES.items():
        outcomes = counts.outcomes(*where["basis"])
        if sum(outcomes.values()):
            lines[name] = ", ".join(
                f"{number} {OUTCOME_NAMES[key]}"
                for key, number in outcomes.items()
                if number or key == "fails"
            )
    return lines


def as_query(where: Mapping[str, Any]) -> str:
    """Format a filter as an expression for `pandas.DataFrame.query`.

    Examples
    --------
    >>> as_query({"kind": "number", "origin": ("data", "quoted")})
    "kind == 'number' and origin in ['data', 'quoted']"
    """
    return " and ".join(
        f"{column} == {value!r}" if isinstance(value, str) else f"{column} in {list(value)}"
        for column, value in where.items()
    )


def describe_verdicts(verdicts: Mapping[Verdict, int]) -> str:
    """Format verdicts with their counts."""
    counts = ((verdict, verdicts.get(verdict)) for verdict in VERDICTS)
    return ", ".join(f"{n:,} {VERDICT_NAMES[verdict]}" for verdict, n in counts if n) or "none"
