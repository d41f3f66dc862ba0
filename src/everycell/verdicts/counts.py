"""Counts of cells and claims for README, page, commands and docs; `headlines` puts them in words.

Each artefact counts once: in the deepest tier that reproduces it, or else on surrogate data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from everycell.records.folders import TIERS
from everycell.records.papers import Artefact, Paper
from everycell.records.tables import RUNNABLE
from everycell.verdicts.cells import CellClass, classify_cells
from everycell.verdicts.claims import BASES, bases_of_claims, basis_of_table, decide_on_published
from everycell.verdicts.reports import (
    ON_REPRODUCED,
    UNCOUNTED,
    Result,
    Verdict,
    explained_by_source,
)

#: Bases of claims that were tested on reproduced values.
COMPUTED = ("data", "published inputs")
#: Bases of claims that were not tested.
NOT_RUN, UNTESTABLE = "not run", "not testable"
#: Outcomes of tests of claims; the last one means that the models are trained in the run.
TESTED = ("supported", "contradicted", "inconclusive", "dependent on the machine")
#: All outcomes of claims, in the order of the scoreboard.
OUTCOMES = (*TESTED, UNTESTABLE, NOT_RUN, "without published numbers")


class ClaimClass(NamedTuple):
    """Outcomes of a claim on reproduced and on published values, and the basis of the former."""

    #: One of `BASES`, ``not run`` or ``not testable``.
    basis: str
    #: Empty if the claim was not tested.
    outcome: str = ""
    #: Empty if the claim has no test.
    on_published: str = ""
    #: Cause of a contradiction on the paper's own data: `Cause` of the erratum, or ``unknown``
    #: without one.
    cause: str = ""
    #: ``quoted`` if computed values are compared with quoted ones.
    flag: str = ""

    @property
    def on_reproduced(self) -> str:
        """Outcome on values computed from data or published inputs; empty if there is none."""
        return self.outcome if self.basis in COMPUTED else ""


@dataclass
class Counts:
    """Counts of the cells and claims of some artefacts."""

    artefacts: int = 0
    states: Counter[str] = field(default_factory=Counter)
    artefacts_without_data: int = 0
    cells: Counter[CellClass] = field(default_factory=Counter)
    claims: Counter[ClaimClass] = field(default_factory=Counter)

    def __iadd__(self, other: Counts) -> Counts:
        """Add the counts of other artefacts."""
        self.artefacts += other.artefacts
        self.artefacts_without_data += other.artefacts_without_data
        for name in ("states", "cells", "claims"):
            getattr(self, name).update(getattr(other, name))
        return self

    def verdicts(self, **where: str | Sequence[str]) -> Counter[Verdict]:
        """Number of cells by verdict, optionally only those with some value in some columns."""
        allowed = {name: [v] if isinstance(v, str) else v for name, v in where.items()}
        verdicts: Counter[Verdict] = Counter()
        for cell, count in self.cells.items():
            if all(getattr(cell, name) in values for name, values in allowed.items()):
                verdicts[cell.verdict] += count
        return verdicts

    @property
    def published(self) -> int:
        """All published cells."""
        return self.cells.total()

    @property
    def reproduced(self) -> int:
        """Cells computed from data or from published inputs."""
        verdicts = self.verdicts(origin=COMPUTED)
        return sum(verdicts[verdict] for verdict in ON_REPRODUCED)

    def outcomes(self, *bases: str) -> Counter[str]:
        """Number of claims tested on any of these bases, by outcome."""
        outcomes: Counter[str] = Counter(dict.fromkeys(TESTED, 0))
        for claim, count in self.claims.items():
            if claim.basis in bases:
                outcomes[claim.outcome] += count
        return outcomes

    def outcomes_of(self, column: Literal["on_published", "on_reproduced"]) -> Counter[str]:
        """Number of claims by outcome on published or on reproduced values."""
        outcomes: Counter[str] = Counter()
        for claim, count in self.claims.items():
            outcomes[getattr(claim, column)] += count
        return outcomes

    @property
    def tested(self) -> int:
        """Claims that were tested on any basis."""
        return sum(self.outcomes(*BASES).values())

    def with_basis(self, basis: str) -> int:
        """Number of claims with a basis, such as ``not run``."""
        return sum(count for claim, count in self.claims.items() if claim.basis == basis)

    @property
    def not_run(self) -> int:
        """Claims whose values were not computed."""
        return self.with_basis(NOT_RUN)

    @property
    def untestable(self) -> int:
        """Claims that are listed as untested, or that the surrogate data cannot test."""
        return self.with_basis(UNTESTABLE)

    @property
    def contradicted(self) -> int:
        """Claims that reproduced or published values contradict, each counted once."""
        return sum(count for claim, count in self.claims.items() if is_contradicted(claim))

    @property
    def claimed(self) -> int:
        """All claims, tested or not."""
        return self.claims.total()


def count_chapters(
    papers: Mapping[str, Paper], entries: Iterable[Result]
) -> dict[tuple[str, str], Counts]:
    """Count cells and claims of every chapter, by key of the paper and chapter."""
    best = best_entries(entries)
    chapters: dict[tuple[str, str], Counts] = {}
    for paper in papers.values():
        for chapter in paper.chapters:
            counts = chapters[paper.key, chapter] = Counts()
            counts.claims[ClaimClass(UNTESTABLE)] += len(paper.untested[chapter])
        for artefact in paper.artefacts.values():
            counts = chapters[paper.key, artefact.chapter]
            counts.artefacts += 1
            entry = best.get(artefact.id)
            classes = cells_of(artefact, entry)
            counts.cells.update(cell for cell in classes if cell.kind not in UNCOUNTED)
            counts.claims.update(claims_of(artefact, entry))
            if entry is None:
                states = {tier.state for tier in artefact.record.tiers.values()}
                state = next((s for s in ("quoted", "drawing") if s in states), "not run")
                counts.states[state] += 1
                continue
            counts.states[entry.report.shown_state] += 1
            report = entry.report
            basis = basis_of_table(report.state, report.cells, report.origin)
            counts.artefacts_without_data += basis == "other cells"
    return chapters


def cells_of(artefact: Artefact, entry: Result | None) -> list[CellClass]:
    """Class of each published cell, including uncounted ones, in the result that counts."""
    if entry and entry.report.state == "reproduced" and entry.report.cells:
        return [
            CellClass(
                cell.kind,
                cell.origin,
                cell.flag,
                cell.verdict,
                artefact.sensitivity(entry.tier, cell.key).state,
            )
            for cell in entry.report.cells
        ]
    quoted = any(tier.state == "quoted" for tier in artefact.record.tiers.values())
    verdict = "quoted" if quoted and entry is None else "not run"
    classes = [cell.with_verdict(verdict) for cell in classify_cells(artefact)]
    if entry and entry.report.state == "surrogate":
        return [cell._replace(origin="surrogate data") for cell in classes]
    return classes


def claims_of(artefact: Artefact, entry: Result | None) -> list[ClaimClass]:
    """Class of each claim of an artefact in its result, if any."""
    claims = artefact.record.claims
    if entry is None:
        on_published = [decision.outcome for decision in decide_on_published(artefact)]
        classes = [ClaimClass(NOT_RUN)] * len(claims)
    else:
        report, varies = entry.report, artefact.record.tiers[entry.tier].varies
        judged = report.claims
        bases = bases_of_claims(artefact, report.state, report.cells, report.origin)
        classes = [
            ClaimClass(UNTESTABLE)
            if claim.on_reproduced == "not testable"
            else ClaimClass(NOT_RUN)
            if claim.on_reproduced == "not run"
            else ClaimClass(
                basis.name,
                "dependent on the machine" if varies else claim.on_reproduced,
                flag="quoted" if basis.with_quoted and basis.name in COMPUTED else "",
            )
            for claim, basis in zip(judged, bases, strict=True)
        ]
        on_published = [claim.on_published for claim in judged]
    classes = [
        claim._replace(on_published=outcome)
        for claim, outcome in zip(classes, on_published, strict=True)
    ]
    causes = {erratum.id: erratum.cause for erratum in artefact.record.errata}
    return [
        claim_class._replace(cause=causes.get(claim.erratum or "", "unknown"))
        if is_contradicted(claim_class)
        else claim_class
        for claim_class, claim in zip(classes, claims, strict=True)
    ]


def is_contradicted(claim: ClaimClass) -> bool:
    """Whether published or reproduced values of the paper's own data contradict a claim."""
    on_own_data = claim.basis != "surrogate data" and claim.outcome == "contradicted"
    return on_own_data or claim.on_published == "contradicted"


def best_entries(entries: Iterable[Result]) -> dict[str, Result]:
    """Result that counts for each artefact: reproduced if possible, then the deepest tier."""
    best: dict[str, Result] = {}
    for entry in entries:
        current = best.get(entry.artefact.id)
        if entry.report.state in RUNNABLE and (current is None or _depth(entry) > _depth(current)):
            best[entry.artefact.id] = entry
    return best


def _depth(entry: Result) -> tuple[bool, int]:
    return entry.report.state == "reproduced", TIERS.index(entry.tier)


def total(counts: Iterable[Counts]) -> Counts:
    """Sum of the counts of chapters."""
    sum_of_counts = Counts()
    for chapter_counts in counts:
        sum_of_counts += chapter_counts
    return sum_of_counts


def summary_row(entry: Result) -> dict[str, Any]:
    """Counts of a result for ``everycell list --format json``, with claims as in ``claims.csv``."""
    report = entry.report
    claims = Counter(claim.outcome or claim.basis for claim in claims_of(entry.artefact, entry))
    return {
        "id": report.artefact,
        "tier": report.tier,
        "state": report.shown_state,
        "verdicts": report.verdicts,
        "explained": explained_by_source(report.cells),
        "claims": {outcome: claims[outcome] for outcome in (*TESTED, UNTESTABLE, NOT_RUN)},
    }
