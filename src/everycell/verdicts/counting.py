"""Counts of cells and claims for README, page, commands and docs.

Each artefact counts once: in the deepest tier that reproduces it, or else on surrogate data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypedDict, TypeVar

from everycell.records.folders import TIERS, Tier
from everycell.records.papers import Artefact, Paper
from everycell.records.tables import RUNNABLE
from everycell.verdicts.cell_classes import CellClass, classify_cells
from everycell.verdicts.claim_basis import BASES, bases_of_claims, basis_of_table
from everycell.verdicts.claims import decide_on_published
from everycell.verdicts.reports import (
    ON_REPRODUCED,
    UNCOUNTED,
    VERDICTS,
    Report,
    Verdict,
    explained_by_source,
)

#: Verdicts on cells that were not compared.
UNCOMPARED: tuple[Verdict, ...] = ("quoted", "not run")
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


class Entry(Protocol):
    """A report of an artefact in a tier, such as `everycell.verdicts.results.Result`."""

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
    claims: Counter[ClaimClass] = field(default_factory=Counter)

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
        sensitivity: str | Sequence[str] | None = None,
    ) -> Counter[Verdict]:
        """Number of cells by verdict, optionally of some kind, origins, flag or sensitivities."""
        origins = (origin,) if isinstance(origin, str) else origin
        states = (sensitivity,) if isinstance(sensitivity, str) else sensitivity
        verdicts: Counter[Verdict] = Counter()
        for cell, count in self.cells.items():
            if (
                kind in (None, cell.kind)
                and (origins is None or cell.origin in origins)
                and flag in (None, cell.flag)
                and (states is None or cell.sensitivity in states)
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
    papers: Mapping[str, Paper], entries: Iterable[Entry]
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
            counts.states[entry.report.state] += 1
            report = entry.report
            basis = basis_of_table(report.state, report.cells, report.origin)
            counts.artefacts_without_data += basis == "other cells"
    return chapters


def cells_of(artefact: Artefact, entry: Entry | None) -> list[CellClass]:
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
    classes = [cell.with_verdict(verdict) for cell in classify_cells(artefact, None)]
    if entry and entry.report.state == "surrogate":
        return [cell._replace(origin="surrogate data") for cell in classes]
    return classes


def claims_of(artefact: Artefact, entry: Entry | None) -> list[ClaimClass]:
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


def best_entries(entries: Iterable[AnEntry]) -> dict[str, AnEntry]:
    """Result that counts for each artefact: reproduced if possible, then the deepest tier."""
    best: dict[str, AnEntry] = {}
    for entry in entries:
        current = best.get(entry.artefact.id)
        if entry.report.state in RUNNABLE and (current is None or _depth(entry) > _depth(current)):
            best[entry.artefact.id] = entry
    return best


def _depth(entry: Entry) -> tuple[bool, int]:
    return entry.report.state == "reproduced", TIERS.index(entry.tier)


def total(counts: Iterable[Counts]) -> Counts:
    """Sum of the counts of chapters."""
    sum_of_counts = Counts()
    for chapter_counts in counts:
        sum_of_counts += chapter_counts
    return sum_of_counts


def summary_row(entry: Entry) -> dict[str, Any]:
    """Counts of a result for ``everycell list --format json``, with claims as in ``claims.csv``."""
    report = entry.report
    claims = Counter(claim.outcome or claim.basis for claim in claims_of(entry.artefact, entry))
    return {
        "id": report.artefact,
        "tier": report.tier,
        "state": report.state,
        "verdicts": report.verdicts,
        "explained": explained_by_source(report.cells),
        "claims": {outcome: claims[outcome] for outcome in (*TESTED, UNTESTABLE, NOT_RUN)},
    }


class CellFilter(TypedDict, total=False):
    """Arguments of `Counts.verdicts`: values of columns of ``cells.csv``."""

    kind: str
    origin: str
    flag: str
    sensitivity: str | Sequence[str]


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
    "of them with perturbed data": {
        "kind": "number",
        "origin": "data",
        "sensitivity": ("moves", "insensitive"),
    },
    "of them move when their data change": {
        "kind": "number",
        "origin": "data",
        "sensitivity": "moves",
    },
    "of them do not move with the changes that were tried (insensitive)": {
        "kind": "number",
        "origin": "data",
        "sensitivity": "insensitive",
    },
    "of them with data for which the rule accepted no change (refused or failed)": {
        "kind": "number",
        "origin": "data",
        "sensitivity": ("refused", "failed"),
    },
    "of them not perturbed": {
        "kind": "number",
        "origin": "data",
        "sensitivity": "not perturbed",
    },
    "numbers computed from published inputs": {"kind": "number", "origin": "published inputs"},
    "of them with perturbed inputs": {
        "kind": "number",
        "origin": "published inputs",
        "sensitivity": ("moves", "insensitive"),
    },
    "of them move when these inputs change": {
        "kind": "number",
        "origin": "published inputs",
        "sensitivity": "moves",
    },
    "of them do not move with the changes of these inputs that were tried (insensitive)": {
        "kind": "number",
        "origin": "published inputs",
        "sensitivity": "insensitive",
    },
    "of them with inputs for which the rule accepted no change (refused or failed)": {
        "kind": "number",
        "origin": "published inputs",
        "sensitivity": ("refused", "failed"),
    },
    "of them with inputs that were not perturbed": {
        "kind": "number",
        "origin": "published inputs",
        "sensitivity": "not perturbed",
    },
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


class ClaimLine(NamedTuple):
    """A line of the scoreboard of claims: a filter of ``claims.csv``, and the column to count."""

    where: dict[str, Sequence[str]]
    column: Literal["outcome", "on_published", "on_reproduced"] = "outcome"


#: Lines of claims. The first two count all claims; lines that begin with "of them" are parts of
#: the second.
CLAIM_LINES: dict[str, ClaimLine] = {
    "on published values": ClaimLine({}, "on_published"),
    "on reproduced values": ClaimLine({}, "on_reproduced"),
    "of them on reproduced values against quoted ones": ClaimLine({"flag": ("quoted",)}),
    "of them only on values derived from other published values": ClaimLine(
        {"basis": ("other cells",)}
    ),
    "of them only on values computed from stated settings": ClaimLine({"basis": ("constants",)}),
    "of them only on values that were given": ClaimLine({"basis": ("given",)}),
    "of them only on quoted values": ClaimLine({"basis": ("quoted values",)}),
    "of them only on surrogate data": ClaimLine({"basis": ("surrogate data",)}),
    "of them not run": ClaimLine({"basis": (NOT_RUN,)}),
    "of them not testable here, each with the reason": ClaimLine({"basis": (UNTESTABLE,)}),
}


def headlines(counts: Counts) -> dict[str, Counter[Verdict]]:
    """Headlines with their verdicts, without empty ones."""
    # Projects without `published/sensitivity.csv` have no lines on it.
    is_measured = any(cell.sensitivity != "not perturbed" for cell in counts.cells)
    lines = {
        name: counts.verdicts(**where)
        for name, where in HEADLINES.items()
        if is_measured or "sensitivity" not in where
    }
    return {name: verdicts for name, verdicts in lines.items() if verdicts.total()}


def headline(name: str, verdicts: Mapping[Verdict, int]) -> str:
    """Text of a headline, with the verdicts if any values were compared."""
    line = f"{sum(verdicts.values()):,} {name}"
    compared = any(number for verdict, number in verdicts.items() if verdict not in UNCOMPARED)
    return f"{line}: {describe_verdicts(verdicts)}" if compared else line


def count_claims(counts: Counts, line: ClaimLine) -> Counter[tuple[str, str]]:
    """Number of claims of a line by outcome and, if contradicted, by cause."""
    outcomes: Counter[tuple[str, str]] = Counter()
    for claim, number in counts.claims.items():
        if all(getattr(claim, column) in values for column, values in line.where.items()):
            outcome = getattr(claim, line.column)
            outcomes[outcome, claim.cause if outcome == "contradicted" else ""] += number
    return outcomes


def claim_lines(counts: Counts) -> dict[str, str]:
    """Lines of the scoreboard of claims by the names of `CLAIM_LINES`, without empty parts."""
    lines = {}
    for name, line in CLAIM_LINES.items():
        outcomes = count_claims(counts, line)
        if line.column == "outcome" and not outcomes:
            continue
        numbered = f"{outcomes.total()} {'' if line.column == 'outcome' else 'claims '}{name}"
        described = _describe_outcomes(outcomes, line)
        lines[name] = f"{numbered}: {described}" if described else numbered
    return lines


def _describe_outcomes(outcomes: Mapping[tuple[str, str], int], line: ClaimLine) -> str:
    """Outcomes with their counts, and the number of contradictions with an unknown cause."""
    numbers: Counter[str] = Counter()
    for (outcome, _), number in outcomes.items():
        numbers[outcome] += number
    parts = []
    for outcome in OUTCOMES:
        unknown = outcomes.get((outcome, "unknown"), 0)
        if numbers[outcome] or (outcome == "contradicted" and numbers.keys() & set(TESTED)):
            has_cause = numbers["contradicted"] and "surrogate data" not in line.where.get(
                "basis", ()
            )
            cause = f" (of these {unknown} with unknown cause)" if has_cause else ""
            parts.append(f"{numbers[outcome]} {outcome}{cause * (outcome == 'contradicted')}")
    untested = {
        "on_published": "without a test",
        "on_reproduced": "not tested on reproduced values",
    }.get(line.column)
    if untested and numbers[""]:
        parts.append(f"{numbers['']} {untested}")
    return ", ".join(parts)


def as_query(where: Mapping[str, Any]) -> str:
    """Format a filter as an expression for `pandas.DataFrame.query`."""
    return " and ".join(
        f"{column} == {value!r}" if isinstance(value, str) else f"{column} in {list(value)}"
        for column, value in where.items()
    )


def describe_verdicts(verdicts: Mapping[Verdict, int]) -> str:
    """Format verdicts with their counts."""
    counts = ((verdict, verdicts.get(verdict)) for verdict in VERDICTS)
    return ", ".join(f"{n:,} {verdict}" for verdict, n in counts if n) or "none"
