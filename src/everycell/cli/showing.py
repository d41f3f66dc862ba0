"""`everycell show`: the cells of an artefact, or the artefacts of a chapter or paper."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.text import Text

from everycell.cli import project
from everycell.cli.grids import grid_lines
from everycell.cli.names import Names, Selection
from everycell.cli.options import Form, Format, OnlyTier
from everycell.cli.printing import (
    output_console,
    print_document,
    print_for_programs,
    print_list,
    print_paragraph,
)
from everycell.cli.project import collect_results, warn_of_faults
from everycell.cli.tex_tables import is_reproduced, macros_as_tex, table_as_tex, verdicts_as_tex
from everycell.records.cells import RecordError
from everycell.records.folders import TIERS, Tier
from everycell.records.papers import Artefact, Paper, all_artefacts
from everycell.records.tables import RUNNABLE
from everycell.render.grid import Cell, Grid
from everycell.render.verdict_tables import (
    SurrogateCell,
    VerdictCell,
    published_grid,
    surrogate_grid,
    verdict_cells,
    verdict_grid,
)
from everycell.render.vocabulary import TINTS, section_and_page
from everycell.verdicts.audits import audits_of
from everycell.verdicts.reports import (
    CAUSE_NAMES,
    UNEQUAL,
    Result,
    Verdict,
    explained_by_source,
    format_counts,
)
from everycell.verdicts.results import result_of, stem_of

#: Symbol of each verdict in the terminal; all differ, for output without colour.
SIGNS: dict[Verdict, str] = {
    "equal": "=",
    "within tolerance": "~",
    "too noisy to judge": "?",
    "different": "x",
    "explained": "!",
    "consistent": "+",
    "inconsistent": "/",
    "quoted": '"',
    "not run": "-",
}
#: Maximum width of a text on surrogate data.
_TEXT_WIDTH = 60
#: Maximum number of cells to list per cause.
_MAX_CELLS = 10


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A paper, chapter or artefact in any spelling, such as 'Table 4.8 lajewska2025'.",
        ),
    ],
    tier: OnlyTier = None,
    form: Format = "table",
    verdicts: Annotated[
        bool,
        typer.Option(
            "--verdicts",
            help="With --format tex: published values, with reproduced ones, coloured by verdict; "
            "for a chapter or paper, macros of its values and verdicts.",
        ),
    ] = False,
) -> None:
    """Show published and reproduced cells of an artefact.

    For a chapter or paper, list its artefacts.
    """
    papers = project.papers()
    selection = Names(papers).find(name)
    tier = tier or selection.tier
    if verdicts and (form != "tex" or not selection.paper):
        raise RecordError(
            "--verdicts needs the name of an artefact, chapter or paper and `--format tex`; give "
            "both."
        )
    if selection.kind == "artefact":
        artefact = papers[selection.paper].artefacts[selection.artefact]
        results = _results_of(artefact, tier)
        warn_of_faults(results)
        if form == "tex":
            as_tex = verdicts_as_tex if verdicts else table_as_tex
            print_document(as_tex(artefact, results))
        elif form == "table":
            _show_artefact(artefact, results)
        else:
            title = {"artefact": artefact.id, "title": artefact.record.title}
            print_for_programs(_cells_frame(artefact, results), form, title)
        return
    results = collect_results(
        papers,
        lambda artefact, artefact_tier: (
            selection.has(artefact, artefact_tier) and tier in (None, artefact_tier)
        ),
    )
    if verdicts:
        print_document(macros_as_tex(results))
        return
    _show_list(selection, papers, results, form)


def _results_of(artefact: Artefact, tier: Tier | None) -> list[Result]:
    tiers = artefact.record.tiers
    if tier is not None and tier not in tiers:
        raise RecordError(f"{artefact.id} has no tier {tier!r}; its record has {', '.join(tiers)}.")
    return [
        result_of(artefact, artefact_tier, project.RESULTS, project.ROOT, audits=audits_of)
        for artefact_tier in ([tier] if tier else tiers)
    ]


def _show_list(
    selection: Selection, papers: dict[str, Paper], results: list[Result], form: Form
) -> None:
    """Print one row per artefact: title, state in each tier, and verdicts in its best tier."""
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
        print_paragraph(console, heading, "bold")
    print_list(
        ["artefact", "title", *TIERS, "cells"],
        [list(row.values()) for row in rows],
        wrapped=("title", "cells"),
        dispensable=("cells", "full", "title", "released"),
    )
    console.print("`everycell show ARTEFACT` shows the cells of an artefact and what a run needs.")


def _row(artefact: Artefact, results: Sequence[Result]) -> dict[str, str]:
    """Row of an artefact in a list."""
    best = max(
        results,
        key=lambda result: (result.report.state == "reproduced", result.report.state in RUNNABLE),
    )
    verdicts = format_counts(best.report.verdicts, explained_by_source(best.report.cells))
    states = {result.tier: _state(result) for result in results}
    return {
        "artefact": artefact.id,
        "title": artefact.record.title,
        **{tier: states.get(tier, "") for tier in TIERS},
        "cells": verdicts,
    }


def _state(result: Result) -> str:
    """State of a result; "no rule yet" if it could not be run at all."""
    declared_state = result.artefact.record.tiers[result.tier].state
    if result.report.state == "not run":
        return "no rule yet" if declared_state == "not run" else "not run"
    return result.report.shown_state


def _show_artefact(artefact: Artefact, results: Sequence[Result]) -> None:
    """Print the table, differences, notes and claims of an artefact, and how to reproduce it."""
    console = output_console()
    print_paragraph(console, f"{artefact.id}: {artefact.record.title}", "bold")
    # The deepest tier comes first.
    tables = {
        result.tier: verdict_cells(artefact, result.report)
        for result in reversed(results)
        if is_reproduced(result)
    }
    states = {result.tier: result.report.shown_state for result in results}
    for tier, cells in tables.items():
        _print_heading(console, f"{tier}: {states[tier]}")
        _print_grid(console, verdict_grid(artefact, cells), _lines_of_judged)
        _print_legend(console, cells)
    if not tables and not artefact.cells.empty:
        _print_heading(console, "published values")
        _print_grid(console, published_grid(artefact), _lines_of_published)
    for tier, cells in tables.items():
        _print_differences(console, tier, cells)
    for result in results:
        has_values = result.report.state == "reproduced"
        if result.report.state == "surrogate" or (has_values and artefact.cells.empty):
            _print_uncompared(console, artefact, result, in_full=not tables)
    notes = [artefact.record.explanation] if artefact.record.explanation else []
    notes += [f"{result.tier}: {note}." for result in results for note in result.report.notes]
    notes += [
        f"Erratum ({CAUSE_NAMES[erratum.cause]}): {erratum.finding}"
        for erratum in artefact.record.errata
    ]
    _print_list(console, "notes", notes)
    for result in results:
        _print_claims(console, result)
    _print_heading(console, "how to reproduce")
    for result in results:
        _print_state(console, artefact, result)


def _print_heading(console: Console, text: str) -> None:
    console.print()
    print_paragraph(console, text[0].upper() + text[1:], "bold")


def _print_list(console: Console, heading: str, lines: Sequence[str]) -> None:
    """Print lines under a heading, if there are any."""
    if lines:
        _print_heading(console, heading)
    for line in lines:
        print_paragraph(console, line)


def _print_grid(
    console: Console, grid: Grid[Any], lines_of: Callable[[Any], Sequence[Text]]
) -> None:
    for line in grid_lines(grid, lines_of, console.width):
        console.print(line, soft_wrap=True)


def _print_legend(console: Console, cells: Sequence[VerdictCell]) -> None:
    legend = Text("Published values, with reproduced ones below:")
    counts = Counter(cell.verdict for cell in cells if not cell.is_empty)
    for verdict, sign in SIGNS.items():
        style = TINTS[verdict].terminal
        if counts[verdict]:
            legend.append(f"  {sign}\u00a0", style=style)
            legend.append(f"{verdict} ({counts[verdict]})".replace(" ", "\u00a0"), style)
    console.print(legend)


def _lines_of_judged(cell: VerdictCell) -> list[Text]:
    """Published value above the reproduced one, with aligned digits."""
    # A dash for a value that the paper does not report has no verdict.
    sign, style = SIGNS[cell.verdict], TINTS[cell.verdict].terminal
    if cell.is_empty:
        sign, style = " ", ""
    marker, new_marker = (f"^{mark}" * bool(mark) for mark in (cell.mark, cell.reproduced_mark))
    reproduced = cell.reproduced if cell.is_different else cell.extra_digit
    if reproduced is None or reproduced == cell.published:
        return [Text.assemble(cell.published, marker, " ", (sign, style))]
    width = max(len(marker), len(new_marker) + 2)
    return [
        Text(cell.published + marker.ljust(width)),
        Text.assemble(
            reproduced, new_marker, " ", (sign, style), " " * (width - len(new_marker) - 2)
        ),
    ]


def _lines_of_published(cell: Cell) -> list[Text]:
    return [Text(cell.text + f"^{cell.mark}" * bool(cell.mark))]


def _lines_of_surrogate(cell: SurrogateCell) -> list[Text]:
    return [Text(cell.published or "-"), *_lines_of_unpublished(cell)]


def _lines_of_unpublished(cell: SurrogateCell) -> list[Text]:
    """Value of a table without published ones; a long text is wrapped, with even left edges."""
    lines = textwrap.wrap(cell.reproduced, _TEXT_WIDTH) or [""]
    return [Text(line.ljust(max(map(len, lines))), style="cyan") for line in lines]


def _print_differences(console: Console, tier: str, cells: Sequence[VerdictCell]) -> None:
    """Print the cells that are not equal, grouped by cause."""
    by_cause: dict[str, list[VerdictCell]] = {}
    for cell in cells:
        judged = cell.judged
        if judged.verdict in UNEQUAL:
            source = judged.source
            cause = "" if source is None or source == "unknown" else f"[{CAUSE_NAMES[source]}] "
            cause += judged.why or f"Cause: {judged.cause}."
            by_cause.setdefault(cause, []).append(cell)
    lines = []
    for cause, cells_of_cause in by_cause.items():
        lines.append(cause)
        for cell in cells_of_cause[:_MAX_CELLS]:
            judged = cell.judged
            distance = judged.model_copy(update={"why": None}).difference_text.rstrip(".")
            lines.append(
                f"  {cell.name}: {judged.verdict_and_source}" + f", {distance}" * bool(distance)
            )
        if len(cells_of_cause) > _MAX_CELLS:
            number = len(cells_of_cause) - _MAX_CELLS
            lines.append(f"  ... and {number} more (--format json has all)")
    _print_list(console, f"differences ({tier})", lines)


def _print_uncompared(
    console: Console, artefact: Artefact, result: Result, *, in_full: bool
) -> None:
    """Print values that are not compared, below the published ones if the keys are the same.

    Unless `in_full`, only their file is named.
    """
    name = result.report.foreign or artefact.record.tiers[result.tier].name
    heading = f"surrogate data ({result.tier}): {name}"
    if result.report.state == "reproduced":
        heading = f"{result.tier}: reproduced; the paper states no values"
    _print_heading(console, heading)
    stem = stem_of(artefact, result.tier, project.RESULTS)
    path = stem.with_name(f"{stem.name}.csv")
    if not in_full:
        console.print(f"The values are in {path}; --tier {result.tier} shows them.", soft_wrap=True)
        return
    # The values of a figure are in its plot.
    is_figure = f"{stem.name}.svg" in result.report.files
    grid = None if is_figure else surrogate_grid(artefact, path)
    if grid is None:
        plot = f", plotted in {path.with_suffix('.svg')}" * is_figure
        console.print(f"The values are in {path}{plot}.", soft_wrap=True)
        return
    if artefact.cells.empty:
        _print_grid(console, grid, _lines_of_unpublished)
        return
    _print_grid(console, grid, _lines_of_surrogate)
    console.print("Published values, with values on surrogate data below; they are not compared.")


def _print_claims(console: Console, result: Result) -> None:
    """Print the outcome of each claim on published and on reproduced values."""
    report = result.report
    if report.state not in RUNNABLE:
        return
    run_on = "surrogate data" if report.state == "surrogate" else "reproduced"
    lines = [
        f"[published: {claim.on_published}, "
        f"{run_on}: {claim.on_reproduced}] {claim.claim} ({section_and_page(claim.source)})"
        for claim in report.claims
    ]
    reasons = dict.fromkeys(
        claim.detail for claim in report.claims if claim.on_reproduced == "not testable"
    )
    lines += [f"Not testable here: {reason}" for reason in reasons]
    _print_list(console, f"claims ({result.tier})", lines)


def _print_state(console: Console, artefact: Artefact, result: Result) -> None:
    record = artefact.record.tiers[result.tier]
    print_paragraph(console, f"{result.tier}: {result.report.shown_state} (needs {record.needs})")
    if record.state in RUNNABLE:
        console.print(
            f"  everycell make results/{result.tier}/{artefact.id}.verdicts.json", soft_wrap=True
        )


def _cells_frame(artefact: Artefact, results: Sequence[Result]) -> pd.DataFrame:
    """One row per tier and cell; only published values where none were compared."""
    names = ("verdict", "kind", "origin", "difference", "tolerance")
    rows: list[dict[str, Any]] = []
    for result in results:
        for cell in result.report.cells:
            rows.append(
                {
                    "tier": result.tier,
                    **cell.key,
                    "published": cell.published,
                    "reproduced": cell.reproduced,
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
