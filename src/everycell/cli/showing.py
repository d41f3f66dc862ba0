"""`everycell show`: an artefact's cells side by side, or a list for a chapter or a work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from everycell.cli import project
from everycell.cli.names import Names, Selection
from everycell.cli.options import Form, Format, OnlyTier
from everycell.cli.printing import output_console, print_for_programs
from everycell.cli.project import collect_results, warn_of_faults
from everycell.engine.artefacts import Artefact, Paper, all_artefacts
from everycell.engine.cards import RUNNABLE
from everycell.engine.published_cells import CardError
from everycell.engine.render.tables.digits import tell_apart
from everycell.engine.reports import (
    OTHERWISE,
    OUTCOME_NAMES,
    PLACES,
    STATES,
    JudgedCell,
    counted,
    explained_by_source,
)
from everycell.engine.results import Result, result_of
from everycell.engine.tiers import TIERS, Tier
from everycell.studies.discovery import audits_of

#: Symbol and colour of each verdict in the terminal; symbols alone are distinct.
SIGNS = {
    "equal": ("=", "green"),
    "close": ("~", "yellow"),
    "differs": ("x", "red"),
    "explained": ("!", "magenta"),
    "consistent": ("+", "cyan"),
    "inconsistent": ("/", "bright_red"),
    "quoted": ('"', "blue"),
    "not_run": ("-", "bright_black"),
}


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A paper, chapter or artefact, however spelled, as 'Table 4.8 lajewska2025'.",
        ),
    ],
    tier: OnlyTier = None,
    form: Format = "table",
) -> None:
    """Show published and reproduced cells of an artefact.

    A chapter or a paper is shown as a list of its artefacts.
    """
    papers = project.papers()
    selection = Names(papers).find(name)
    tier = tier or selection.tier
    if selection.kind == "artefact":
        artefact = papers[selection.paper].artefacts[selection.artefact]
        results = _results_of(artefact, tier)
        warn_of_faults(results)
        if form == "table":
            _show_artefact(artefact, results)
        else:
            title = {"artefact": artefact.id, "title": artefact.card.title}
            print_for_programs(_cells_frame(artefact, results), form, title)
        return
    results = collect_results(
        papers, lambda artefact, of: selection.has(artefact, of) and tier in (None, of)
    )
    _show_list(selection, papers, results, form)


def _results_of(artefact: Artefact, tier: Tier | None) -> list[Result]:
    known = artefact.card.tiers
    if tier is not None and tier not in known:
        raise CardError(f"{artefact.id} has no tier {tier!r}; its card has {', '.join(known)}.")
    return [
        result_of(artefact, of, project.RESULTS, project.ROOT, audits=audits_of)
        for of in ([tier] if tier else known)
    ]


def _show_list(
    selection: Selection, papers: dict[str, Paper], results: list[Result], form: Form
) -> None:
    """Print a row per artefact: title, state in each tier, and verdicts in its best tier."""
    by_artefact: dict[str, list[Result]] = {}
    for result in results:
        by_artefact.setdefault(result.artefact.id, []).append(result)
    rows = [
        _row(artefact, by_artefact[artefact.id])
        for artefact in all_artefacts(papers)
        if artefact.id in by_artefact
    ]
    frame = pd.DataFrame(rows)
    if form != "table":
        print_for_programs(frame, form)
        return
    console = output_console()
    if selection.paper:
        paper = papers[selection.paper]
        heading = f"{paper.authors}: {paper.title} ({paper.year})"
        if selection.chapter:
            heading += f", chapter {selection.chapter}: {paper.chapters[selection.chapter]}"
        console.print(Text(heading, style="bold"))
    table = Table(box=None)
    for column in frame.columns:
        table.add_column(column, no_wrap=column != "title")
    for row in frame.itertuples(index=False, name=None):
        table.add_row(*row)
    console.print(table)
    console.print("`everycell show` with an artefact's name shows its cells, and what a run needs.")


def _row(artefact: Artefact, results: Sequence[Result]) -> dict[str, str]:
    """An artefact's row in a list."""
    best = max(
        results,
        key=lambda result: (result.report.state == "rebuilt", result.report.state in RUNNABLE),
    )
    verdicts = counted(best.report.verdicts, explained_by_source(best.report.cells))
    states = {result.tier: _state(result) for result in results}
    return {
        "artefact": artefact.id,
        "title": artefact.card.title,
        **{tier: states.get(tier, "") for tier in TIERS},
        "cells": verdicts,
    }


def _state(result: Result) -> str:
    """State of a result in words; tells apart what has no rule from what was not run."""
    declared = result.artefact.card.tiers[result.tier].state
    if result.report.state == "not_run":
        return "no rule yet" if declared == "not_run" else "not run"
    return STATES[result.report.state]


def _show_artefact(artefact: Artefact, results: Sequence[Result]) -> None:
    console = output_console()
    console.print(Text(f"{artefact.id}: {artefact.card.title}", style="bold"))
    if artefact.card.explanation:
        console.print(artefact.card.explanation)
    for result in results:
        _print_result(console, artefact, result)
    if not any(_is_rebuilt(result) for result in results) and not artefact.cells.empty:
        console.print()
        console.print(Text("published", style="bold"))
        columns = [*artefact.key_columns, "value"]
        table = Table(*columns[:-1], "published", box=None)
        for row in artefact.cells[columns].itertuples(index=False, name=None):
            table.add_row(*row)
        console.print(table)
    for erratum in artefact.card.errata:
        console.print(f"[erratum, {PLACES[erratum.where]}] {erratum.finding}", markup=False)


def _is_rebuilt(result: Result) -> bool:
    """Whether a cell has a reproduced value."""
    return any(cell.rebuilt is not None for cell in result.report.cells)


def _cells_frame(artefact: Artefact, results: Sequence[Result]) -> pd.DataFrame:
    """Cells of all tiers, one row each; the published ones on surrogate data, not compared."""
    names = ("verdict", "kind", "origin", "difference", "tolerance")
    rows: list[dict[str, Any]] = []
    for result in results:
        for cell in result.report.cells:
            rows.append(
                {
                    "tier": result.tier,
                    **cell.key,
                    "published": cell.printed,
                    "reproduced": cell.rebuilt,
                    "cause": cell.cause or None,
                }
                | {name: getattr(cell, name) for name in names}
            )
        if not result.report.cells and not artefact.cells.empty:
            cells = artefact.cells[[*artefact.key_columns, "value"]].rename(
                columns={"value": "published"}
            )
            rows += cells.assign(tier=result.tier, verdict=result.report.state).to_dict("records")
    columns = ["tier", *artefact.key_columns, "published", "reproduced", *names, "cause"]
    return pd.DataFrame(rows, columns=columns)


def _print_result(console: Console, artefact: Artefact, result: Result) -> None:
    report = result.report
    card = artefact.card.tiers[result.tier]
    console.print()
    console.print(
        Text(f"{result.tier}: {STATES[report.state]}", style="bold"), f"(needs {card.needs})"
    )
    if report.state == "stand_in":
        run_on = report.foreign or card.name
        console.print(f"Surrogate data: {run_on}. Cells are not compared.", markup=False)
    for note in report.notes:
        console.print(f"{note}.", markup=False)
    if report.state == "not_run" and card.state != "not_run":
        console.print(
            f"Reproduce it: everycell make results/{result.tier}/{artefact.id}.verdicts.json"
        )
    if _is_rebuilt(result):
        table = Table(box=None)
        for column in (*artefact.key_columns, "published", "reproduced", "verdict"):
            table.add_column(column)
        for cell, (digits, _) in zip(report.cells, artefact.precisions, strict=True):
            sign, style = SIGNS[cell.verdict]
            table.add_row(
                *cell.key.values(),
                cell.printed,
                "" if cell.rebuilt is None else _rebuilt_text(cell, digits),
                Text(f"{sign} {cell.verdict_in_words}", style=style),
            )
        console.print(table)
    for cell in report.cells:
        if cell.verdict in OTHERWISE and cell.distance_in_words:
            source = f"[{PLACES[cell.source]}] " if cell.source else ""
            console.print(
                f"{' / '.join(cell.key.values())}: {source}{cell.distance_in_words}", markup=False
            )
    if report.state not in RUNNABLE:
        return
    for conclusion in report.conclusions:
        console.print(
            f"[published: {OUTCOME_NAMES[conclusion.on_printed]}, "
            f"reproduced: {OUTCOME_NAMES[conclusion.on_rebuilt]}] "
            f"{conclusion.claim} ({conclusion.source})",
            markup=False,
        )
    for reason in dict.fromkeys(
        conclusion.detail
        for conclusion in report.conclusions
        if conclusion.on_rebuilt == "not_testable"
    ):
        console.print(f"Not testable here: {reason}", markup=False)


def _rebuilt_text(cell: JudgedCell, digits: int | Literal["text"]) -> str:
    # One digit more than printed, so that a reader sees how close the rounding was.
    return tell_apart(cell.rebuilt, cell.printed, digits, added=1)
