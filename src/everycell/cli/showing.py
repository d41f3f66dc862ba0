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
from everycell.cli.names import Named, Names
from everycell.cli.printing import output_console, print_for_programs
from everycell.cli.project import (
    Format,
    TierOption,
    check_choice,
    errors_as_sentences,
    warn_of_faults,
)
from everycell.engine.artefacts import Artefact, Paper, all_artefacts
from everycell.engine.cards import RUNNABLE
from everycell.engine.printed_cells import CardError
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
from everycell.engine.results import Result, collect, result_of
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
            help="A work, a chapter or an artefact, however spelled, as 'Table 4.8 lajewska2025'.",
        ),
    ],
    tier: TierOption = None,
    form: Format = "table",
) -> None:
    """Show an artefact's published and reproduced cells; a chapter or a work as a list."""
    with errors_as_sentences():
        papers = project.papers()
        check_choice("tier", tier, TIERS)
        named = Names(papers).find(name)
        of_tier: Tier | None = tier or named.tier  # type: ignore[assignment]
        artefact = None
        if named.kind == "artefact":
            artefact = papers[named.paper].artefacts[named.artefact]
            found = _results_of(artefact, of_tier)
        else:
            found = collect(
                papers,
                project.RESULTS,
                project.ROOT,
                wanted=lambda one, of: named.has(one, of) and of_tier in (None, of),
                audits=None,
            )
    warn_of_faults(found)
    if artefact is None:
        _show_list(named, papers, found, form)
    elif form != "table":
        told = {"artefact": artefact.id, "title": artefact.card.title}
        print_for_programs(_cells_frame(artefact, found), form, told)
    else:
        _show_artefact(artefact, found)


def _results_of(artefact: Artefact, tier: Tier | None) -> list[Result]:
    known = artefact.card.tiers
    if tier is not None and tier not in known:
        raise CardError(f"{artefact.id} has no tier {tier!r}; its card has {', '.join(known)}.")
    return [
        result_of(artefact, of, project.RESULTS, project.ROOT, audits=audits_of)
        for of in ([tier] if tier else known)
    ]


def _show_list(named: Named, papers: dict[str, Paper], found: list[Result], form: str) -> None:
    """Print a row per artefact: title, state in each tier, and verdicts in its best tier."""
    by_artefact: dict[str, list[Result]] = {}
    for result in found:
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
    if named.paper:
        paper = papers[named.paper]
        head = f"{paper.authors}: {paper.title} ({paper.year})"
        if named.chapter:
            head += f", chapter {named.chapter}: {paper.chapters[named.chapter]}"
        console.print(Text(head, style="bold"))
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
        results, key=lambda one: (one.report.state == "rebuilt", one.report.state in RUNNABLE)
    )
    verdicts = counted(best.report.verdicts, explained_by_source(best.report.cells))
    states = {one.tier: _state(one) for one in results}
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


def _show_artefact(artefact: Artefact, found: Sequence[Result]) -> None:
    console = output_console()
    console.print(Text(f"{artefact.id}: {artefact.card.title}", style="bold"))
    if artefact.card.explanation:
        console.print(artefact.card.explanation)
    for result in found:
        _print_result(console, artefact, result)
    if not any(_is_rebuilt(result) for result in found) and not artefact.cells.empty:
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


def _cells_frame(artefact: Artefact, found: Sequence[Result]) -> pd.DataFrame:
    """Cells of all tiers, one row each; the published ones on surrogate data, not compared."""
    rows: list[dict[str, Any]] = []
    for result in found:
        for cell in result.report.cells:
            judged = {"published": cell.printed, "reproduced": cell.rebuilt}
            judged |= {"verdict": cell.verdict}
            names = ("kind", "origin", "difference", "tolerance")
            judged |= {name: getattr(cell, name) for name in names}
            rows.append({"tier": result.tier, **cell.key, **judged, "cause": cell.cause or None})
        if not result.report.cells and not artefact.cells.empty:
            printed = artefact.cells[[*artefact.key_columns, "value"]].rename(
                columns={"value": "published"}
            )
            rows += printed.assign(tier=result.tier, verdict=result.report.state).to_dict("records")
    return pd.DataFrame(
        rows,
        columns=[
            "tier",
            *artefact.key_columns,
            *("published", "reproduced", "verdict", "kind", "origin", "difference", "tolerance"),
            "cause",
        ],
    )


def _print_result(console: Console, artefact: Artefact, result: Result) -> None:
    found = result.report
    card = artefact.card.tiers[result.tier]
    console.print()
    console.print(
        Text(f"{result.tier}: {STATES[found.state]}", style="bold"), f"(needs {card.needs})"
    )
    if found.state == "stand_in":
        run_on = found.foreign or card.name
        console.print(f"Surrogate data: {run_on}. Cells are not compared.", markup=False)
    for note in found.notes:
        console.print(f"{note}.", markup=False)
    if found.state == "not_run" and card.state != "not_run":
        console.print(
            f"Reproduce it: everycell make results/{result.tier}/{artefact.id}.verdicts.json"
        )
    if _is_rebuilt(result):
        table = Table(box=None)
        for column in (*artefact.key_columns, "published", "reproduced", "verdict"):
            table.add_column(column)
        for cell, (digits, _) in zip(found.cells, artefact.precisions, strict=True):
            sign, style = SIGNS[cell.verdict]
            rebuilt = cell.rebuilt
            shown = "" if rebuilt is None else _rebuilt_text(cell, digits)
            table.add_row(
                *cell.key.values(),
                cell.printed,
                shown,
                Text(f"{sign} {cell.verdict_in_words}", style=style),
            )
        console.print(table)
    for cell in found.cells:
        if cell.verdict in OTHERWISE and cell.distance_in_words:
            place = f"[{PLACES[cell.source]}] " if cell.source else ""
            console.print(
                f"{' / '.join(cell.key.values())}: {place}{cell.distance_in_words}", markup=False
            )
    if found.state not in RUNNABLE:
        return
    for conclusion in found.conclusions:
        console.print(
            f"[published: {OUTCOME_NAMES[conclusion.on_printed]}, "
            f"reproduced: {OUTCOME_NAMES[conclusion.on_rebuilt]}] "
            f"{conclusion.claim} ({conclusion.source})",
            markup=False,
        )
    for because in dict.fromkeys(
        one.detail for one in found.conclusions if one.on_rebuilt == "not_testable"
    ):
        console.print(f"Not testable here: {because}", markup=False)


def _rebuilt_text(cell: JudgedCell, digits: int | Literal["text"]) -> str:
    # One digit more than printed, so that a reader sees how close the rounding was.
    return tell_apart(cell.rebuilt, cell.printed, digits, added=1)
