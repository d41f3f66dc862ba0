"""Number of claims of each chapter, and their outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from everycell.engine.artefacts import Artefact, Paper
from everycell.engine.cards import RUNNABLE
from everycell.engine.conclusions import Outcome
from everycell.engine.reports import OUTCOMES, Report
from everycell.engine.tiers import TIERS, Tier


class Entry(Protocol):
    """A report of an artefact in a tier."""

    @property
    def artefact(self) -> Artefact:
        """The artefact."""

    @property
    def tier(self) -> Tier:
        """Its tier."""

    @property
    def report(self) -> Report:
        """Its report there."""


@dataclass
class Coverage:
    """Claims of a chapter, each counted once.

    Attributes
    ----------
    rebuilt
        Outcome -> claims that were tested on rebuilt values, in the deepest tier that has them.
    stand_in
        The same for claims that were tested only on stand-ins.
    not_run
        Claims without a result on disk. Their outcome on the print is not a test.
    untestable
        Claims that the chapter file lists as untestable, with the reason.
    """

    paper: str
    chapter: str
    rebuilt: Counter[Outcome] = field(default_factory=Counter)
    stand_in: Counter[Outcome] = field(default_factory=Counter)
    not_run: int = 0
    untestable: int = 0

    @property
    def name(self) -> str:
        """As Snakemake's target: ``lajewska2025_ch5``."""
        return f"{self.paper}_ch{self.chapter}"

    @property
    def tested(self) -> int:
        """Claims with a result to test them on, decided or not."""
        return self.rebuilt.total() + self.stand_in.total()

    @property
    def found(self) -> int:
        """All claims of the chapter that were found."""
        return self.tested + self.not_run + self.untestable

    def of(self, outcome: Outcome) -> int:
        """Tested claims with an outcome."""
        return self.rebuilt[outcome] + self.stand_in[outcome]

    def row(self) -> dict[str, Any]:
        """Counts by name, as ``everycell list --totals --format json`` prints them."""
        return {
            "chapter": self.name,
            "found": self.found,
            "tested": self.tested,
            **{
                state: {short: counts[long] for short, long in OUTCOMES.items()}
                for state, counts in (("rebuilt", self.rebuilt), ("stand_in", self.stand_in))
            },
            "not_run": self.not_run,
            "untestable": self.untestable,
        }


def coverage(papers: Mapping[str, Paper], entries: Iterable[Entry]) -> list[Coverage]:
    """Count the claims of every chapter that has one.

    Parameters
    ----------
    papers
        Cards with their conclusions, chapters with their untested claims.
    entries
        Reports of the artefacts in their tiers; an artefact without one was not run.

    Returns
    -------
    list of Coverage
        In the order of papers and chapters.
    """
    reports: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.report.state in RUNNABLE:
            reports.setdefault(entry.artefact.id, []).append(entry)
    found = []
    for paper in papers.values():
        for chapter in paper.chapters:
            counts = Coverage(paper.key, chapter, untestable=len(paper.untested[chapter]))
            for artefact in paper.artefacts.values():
                if artefact.chapter == chapter:
                    _count(counts, artefact, reports.get(artefact.id, []))
            if counts.found:
                found.append(counts)
    return found


def _count(counts: Coverage, artefact: Artefact, entries: list[Entry]) -> None:
    if not entries:
        counts.not_run += len(artefact.card.conclusions)
        return
    # Rebuilt values take precedence over stand-ins, and deeper tiers over others.
    best = max(entries, key=lambda one: (one.report.state == "rebuilt", TIERS.index(one.tier)))
    of_state = counts.rebuilt if best.report.state == "rebuilt" else counts.stand_in
    of_state.update(conclusion.on_rebuilt for conclusion in best.report.conclusions)
