"""`everycell summary`: how much of what each work prints was rebuilt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd
import typer

from everycell.cli import project
from everycell.cli.printing import print_for_programs, with_noun
from everycell.cli.project import Format, can_be_run, errors_as_sentences, warn_of_faults
from everycell.engine.artefacts import Paper
from everycell.engine.cards import RUNNABLE, Where
from everycell.engine.reports import (
    ON_REBUILT,
    OUTCOMES,
    PLACES,
    VERDICTS,
    Verdict,
    counted,
    explained_by_source,
    without_rebuilt_cell,
)
from everycell.engine.results import Result, collect
from everycell.engine.tiers import TIERS


@dataclass
class Tally:
    """Counts for a work, with each artefact counted once, in the deepest tier that rebuilt it.

    Attributes
    ----------
    artefacts, cells, claims
        Totals over the work's cards: the denominators.
    rebuilt, stand_ins
        Artefacts with a result on disk.
    hollow
        Rebuilt artefacts that are based only on printed cells.
    verdicts, explained
        Cells of rebuilt artefacts by verdict, and explained ones by the place of the cause.
    outcomes
        Conclusions of rebuilt artefacts that are not hollow.
    """

    artefacts: int = 0
    cells: int = 0
    claims: int = 0
    rebuilt: int = 0
    stand_ins: int = 0
    hollow: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    explained: Counter[Where] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def compared(self) -> int:
        """Printed cells with a rebuilt value beside them."""
        return sum(self.verdicts[verdict] for verdict in ON_REBUILT)

    def add(self, other: Tally) -> None:
        """Add the counts of another work."""
        for name, value in vars(other).items():
            own = getattr(self, name)
            if isinstance(value, Counter):
                own.update(value)
            else:
                setattr(self, name, own + value)

    def row(self) -> dict[str, int]:
        """Counts by name, for programs."""
        return {
            "artefacts": self.artefacts,
            "rebuilt": self.rebuilt,
            "without_rebuilt_cell": self.hollow,
            "stand_ins": self.stand_ins,
            "cells": self.cells,
            "compared": self.compared,
            **{verdict: self.verdicts[verdict] for verdict in VERDICTS if verdict != "not_run"},
            "conclusions": self.claims,
            **{short: self.outcomes[long] for short, long in OUTCOMES.items()},
        }


def tallies(papers: Mapping[str, Paper], found: Iterable[Result]) -> dict[str, Tally]:
    """Count what was rebuilt of each work.

    Parameters
    ----------
    papers
        Cards of all papers, by key.
    found
        Results on disk.

    Returns
    -------
    dict
        Tally by the key of its work, in the order of `papers`.
    """
    best: dict[str, Result] = {}
    for result in found:
        known = best.get(result.artefact.id)
        if result.report.state in RUNNABLE and (known is None or _depth(result) > _depth(known)):
            best[result.artefact.id] = result
    return {key: _tally(paper, best) for key, paper in papers.items()}


def _depth(result: Result) -> tuple[bool, int]:
    return result.report.state == "rebuilt", TIERS.index(result.tier)


def _tally(paper: Paper, best: Mapping[str, Result]) -> Tally:
    counts = Tally()
    for artefact in paper.artefacts.values():
        counts.artefacts += 1
        counts.cells += len(artefact.cells)
        counts.claims += len(artefact.card.conclusions)
        if artefact.id not in best:
            continue
        report = best[artefact.id].report
        if report.state == "stand_in":
            counts.stand_ins += 1
            continue
        counts.rebuilt += 1
        counts.verdicts.update(report.verdicts)
        counts.explained.update(explained_by_source(report.cells))
        # Results that follow from printed cells test the print, not the paper's findings.
        if without_rebuilt_cell(artefact.card, report):
            counts.hollow += 1
        else:
            counts.outcomes.update(conclusion.on_rebuilt for conclusion in report.conclusions)
    return counts


def summary(form: Format = "table") -> None:
    """Count what was rebuilt of each work: artefacts, cells by verdict, conclusions that hold."""
    with errors_as_sentences():
        papers = project.papers()
        print_summary(papers, form=form)


def print_summary(
    papers: Mapping[str, Paper], works: Iterable[str] | None = None, form: str = "table"
) -> None:
    """Print the counts of some works (all by default), and for readers the path of the page."""
    chosen = {key: papers[key] for key in (papers if works is None else works)}
    found = collect(chosen, project.RESULTS, project.ROOT, wanted=can_be_run, audits=None)
    warn_of_faults(found)
    counts = tallies(chosen, found)
    if form != "table":
        rows = [{"work": key, **tally.row()} for key, tally in counts.items()]
        print_for_programs(pd.DataFrame(rows), form)
        return
    total = Tally()
    for tally in counts.values():
        total.add(tally)
    for key, tally in counts.items():
        typer.echo(_line(key, tally))
    typer.echo(f"Page: {project.RESULTS / 'index.html'}")
    typer.echo(in_words(total))


def _line(key: str, tally: Tally) -> str:
    """A work's counts as a sentence, each out of its total."""
    verdicts = {name: tally.verdicts[name] for name in ON_REBUILT}
    by_verdict = counted(verdicts, {place: tally.explained[place] for place in PLACES})
    return (
        f"{key}: {tally.rebuilt} of {with_noun(tally.artefacts, 'artefact')} rebuilt, "
        f"{with_noun(tally.stand_ins, 'stand-in')}; {tally.compared:,} of "
        f"{tally.cells:,} cells compared{f': {by_verdict}' * bool(by_verdict)}; "
        f"{tally.outcomes['holds']} of {with_noun(tally.claims, 'conclusion')} hold, "
        f"{tally.outcomes['fails']} fail, {tally.outcomes['undecided']} undecided."
    )


def in_words(tally: Tally) -> str:
    """Counts as a line."""
    by_verdict = counted(
        {name: tally.verdicts[name] for name in VERDICTS},
        {place: tally.explained[place] for place in PLACES},
    )
    return (
        f"{with_noun(tally.artefacts, 'artefact')}, {tally.rebuilt} rebuilt ({tally.hollow} of "
        f"them without a rebuilt cell) and {with_noun(tally.stand_ins, 'stand-in')}; "
        f"cells: {by_verdict or 'none'}; conclusions: {tally.outcomes['holds']} hold, "
        f"{tally.outcomes['fails']} fail, {tally.outcomes['undecided']} undecided."
    )
