"""`everycell summary`: how much of each paper was reproduced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import typer

from everycell.cli import project
from everycell.cli.options import Form, Format
from everycell.cli.printing import pluralise, print_for_programs
from everycell.cli.project import can_be_run, collect_results
from everycell.records.papers import Paper
from everycell.verdicts.counting import (
    COMPUTED,
    Counts,
    claim_lines,
    count_chapters,
    describe_verdicts,
    headline,
    headlines,
    total,
)
from everycell.verdicts.reports import VERDICTS

#: Outcomes of tested claims in the rows for programs.
OUTCOMES = ("supported", "contradicted", "inconclusive")
#: Verdicts of cells that are not compared with values computed from data.
OTHER = ("consistent", "inconsistent", "quoted")


def summary(form: Format = "table") -> None:
    """Count what was reproduced: artefacts, cells, claims."""
    print_summary(project.papers(), form=form)


def print_summary(
    papers: Mapping[str, Paper], keys: Iterable[str] | None = None, form: Form = "table"
) -> None:
    """Print the counts of papers (all by default), and in a table also the path of the page."""
    papers = {key: papers[key] for key in (papers if keys is None else keys)}
    chapters = count_chapters(papers, collect_results(papers, can_be_run))
    by_paper = {
        key: total(counts for (paper, _), counts in chapters.items() if paper == key)
        for key in papers
    }
    if form != "table":
        rows = [{"paper": key, **_row(counts)} for key, counts in by_paper.items()]
        print_for_programs(pd.DataFrame(rows), form)
        return
    for key, counts in by_paper.items():
        typer.echo(f"{key}: {_line(counts)}")
    typer.echo(f"Page: {project.RESULTS / 'index.html'}")
    overall = total(by_paper.values())
    typer.echo(f"All: {_line(overall)}")
    for name, verdicts in headlines(overall).items():
        typer.echo(f"{'  ' * name.startswith('of them')}{headline(name, verdicts)}.")
    for name, line in claim_lines(overall).items():
        typer.echo(f"{'  ' * name.startswith('of them')}{line}.")


def _row(counts: Counts) -> dict[str, Any]:
    """Counts by name, for programs; the verdicts from `equal` to `explained` are of `compared`."""
    verdicts = counts.verdicts()
    compared = counts.verdicts(origin=COMPUTED)
    on_published = counts.outcomes_of("on_published")
    on_reproduced = counts.outcomes_of("on_reproduced")
    return {
        "artefacts": counts.artefacts,
        "reproduced": counts.states["reproduced"],
        "from_other_cells": counts.artefacts_without_data,
        "on_surrogate_data": counts.states["surrogate"],
        "cells": counts.published,
        "compared": counts.reproduced,
        **{
            verdict: (verdicts if verdict in OTHER else compared)[verdict]
            for verdict in VERDICTS
            if verdict != "not run"
        },
        "claims": counts.claimed,
        **{f"{outcome}_on_published": on_published[outcome] for outcome in OUTCOMES},
        **{f"{outcome}_on_reproduced": on_reproduced[outcome] for outcome in OUTCOMES},
    }


def _line(counts: Counts) -> str:
    """Sentence on the artefacts and cells reproduced from data or published inputs."""
    verdicts = counts.verdicts(origin=COMPUTED)
    described = f": {describe_verdicts(verdicts)}" if counts.reproduced else ""
    return (
        f"{counts.states['reproduced']} of {pluralise(counts.artefacts, 'artefact')} reproduced, "
        f"{counts.states['surrogate']} run on surrogate data; {counts.reproduced:,} of "
        f"{counts.published:,} cells reproduced{described}."
    )
