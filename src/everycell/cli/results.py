"""What the workflow rebuilt: list, show, summary and the page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from everycell.cli import project
from everycell.cli.printing import output_console, print_for_programs, print_json
from everycell.cli.project import (
    Format,
    can_be_run,
    check_choice,
    errors_as_sentences,
    warn_of_faults,
)
from everycell.config import read_config
from everycell.engine.artefacts import Artefact, all_artefacts, find_artefact
from everycell.engine.cards import RUNNABLE, TIERS, State, Tier, Where
from everycell.engine.coverage import Coverage, coverage
from everycell.engine.printed_cells import CardError
from everycell.engine.reports import (
    OTHERWISE,
    OUTCOMES,
    PLACES,
    VERDICTS,
    JudgedCell,
    Verdict,
    counted,
    explained_by_source,
    summary_row,
    without_rebuilt_cell,
)
from everycell.engine.results import Result, collect, result_of
from everycell.studies.discovery import audits_of

#: Sign and colour of each verdict in the terminal; the sign alone tells them apart.
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

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Papers, chapters (as lajewska2025_ch5) or artefacts; all by default."),
]
TierOption = Annotated[str | None, typer.Option(help="Only this tier: embedded, released, full.")]


def list_(
    names: Names = None,
    tier: TierOption = None,
    state: Annotated[str | None, typer.Option(help="Only this state, e.g. rebuilt.")] = None,
    verdict: Annotated[
        str | None, typer.Option(help="Only artefacts with such a cell, e.g. differs.")
    ] = None,
    totals: Annotated[
        bool,
        typer.Option(
            "--totals", help="Sums of each chapter, tier and state, and the claims of each chapter."
        ),
    ] = False,
    form: Format = "table",
) -> None:
    """List every artefact and tier with its state, verdicts and conclusions."""
    with errors_as_sentences():
        papers = project.papers()
        check_choice("tier", tier, TIERS)
        check_choice("state", state, get_args(State))
        check_choice("verdict", verdict, VERDICTS)
        chapters = {_chapter_of(artefact) for artefact in all_artefacts(papers)}
        for name in names or []:
            if name not in papers and name not in chapters:
                find_artefact(papers, name)

        def named(artefact: Artefact) -> bool:
            own = {artefact.paper, _chapter_of(artefact), artefact.id}
            return not names or not own.isdisjoint(names)

        asked = {_chapter_of(artefact) for artefact in all_artefacts(papers) if named(artefact)}
        found = collect(
            papers,
            project.RESULTS,
            project.ROOT,
            # The claims of a chapter are told of it as a whole.
            wanted=lambda artefact, of: (
                _chapter_of(artefact) in asked
                if totals
                else named(artefact) and (tier is None or of == tier)
            ),
            audits=None,
        )
    claims = [counts for counts in coverage(papers, found) if counts.name in asked]
    found = [one for one in found if named(one.artefact) and (tier is None or one.tier == tier)]
    warn_of_faults(found)
    rows = [
        summary_row(result.report)
        | {"kind": result.artefact.card.kind, "chapter": _chapter_of(result.artefact)}
        for result in found
    ]
    rows = [
        row
        for row in rows
        if (state is None or row["state"] == state)
        and (verdict is None or row["verdicts"][verdict])
    ]
    if totals:
        rows = _sums_by_chapter(rows)
    names_of_rows = ["chapter", "tier", "state", "artefacts"] if totals else ["id", "tier", "state"]
    if form != "table":
        first = names_of_rows if totals else ["id", "kind", "tier", "state"]
        keys = [*first, "verdicts", "explained", "conclusions"]
        listed = {"totals" if totals else "rows": [{key: row[key] for key in keys} for row in rows]}
        if totals:
            listed["claims"] = [counts.row() for counts in claims]
        if form == "json":
            print_json(listed if totals else listed["rows"])
        else:
            flat = {name: pd.json_normalize(of, sep=" ") for name, of in listed.items()}
            print_for_programs(flat if totals else flat["rows"], form)
        return
    table = Table(box=None)
    for column in (*names_of_rows, "verdicts", "conclusions"):
        table.add_column("artefact" if column == "id" else column)
    for row in rows:
        verdicts = counted(row["verdicts"], row["explained"])
        outcomes = ", ".join(f"{n} {name}" for name, n in row["conclusions"].items() if n)
        table.add_row(*(str(row[column]) for column in names_of_rows), verdicts, outcomes)
    output_console().print(table)
    if totals:
        output_console().print(_claims_table(claims))


def _chapter_of(artefact: Artefact) -> str:
    """Name of an artefact's chapter, which is also Snakemake's target."""
    return f"{artefact.paper}_ch{artefact.chapter}"


def _claims_table(claims: list[Coverage]) -> Table:
    """Claims of each chapter, and what became of them."""
    table = Table(box=None)
    for column in ("chapter", "claims", "tested", *OUTCOMES, "not run", "untestable"):
        table.add_column(column, justify="left" if column == "chapter" else "right")
    for counts in claims:
        outcomes = [counts.of(outcome) for outcome in OUTCOMES.values()]
        numbers = [counts.found, counts.tested, *outcomes, counts.not_run, counts.untestable]
        table.add_row(counts.name, *map(str, numbers))
    return table


def _sums_by_chapter(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sums of verdicts and conclusions over the artefacts of a chapter, tier and state."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["chapter"], row["tier"], row["state"]), []).append(row)
    return [
        dict(zip(("chapter", "tier", "state"), key, strict=True))
        | {"artefacts": len(members)}
        | {
            counts: {
                name: sum(member[counts][name] for member in members) for name in members[0][counts]
            }
            for counts in ("verdicts", "explained", "conclusions")
        }
        for key, members in groups.items()
    ]


def show(
    name: Annotated[str, typer.Argument(metavar="ARTEFACT", help="As lajewska2025/table_4_8.")],
    tier: TierOption = None,
) -> None:
    """Show an artefact's printed and rebuilt cells side by side."""
    with errors_as_sentences():
        artefact = find_artefact(project.papers(), name)
        check_choice("tier", tier, TIERS)
        if tier is not None and tier not in artefact.card.tiers:
            raise CardError(
                f"{name} has no tier {tier!r}; its card has {', '.join(artefact.card.tiers)}."
            )
        tiers: list[Tier] = [tier] if tier else list(artefact.card.tiers)  # type: ignore[list-item]
        found = [
            result_of(artefact, of, project.RESULTS, project.ROOT, audits=audits_of) for of in tiers
        ]
    warn_of_faults(found)
    console = output_console()
    console.print(Text(f"{artefact.id}: {artefact.card.title}", style="bold"))
    if artefact.card.explanation:
        console.print(artefact.card.explanation)
    for result in found:
        _print_result(console, artefact, result)
    for erratum in artefact.card.errata:
        console.print(f"[erratum, {PLACES[erratum.where]}] {erratum.finding}", markup=False)


def _print_result(console: Console, artefact: Artefact, result: Result) -> None:
    found = result.report
    card = artefact.card.tiers[result.tier]
    console.print()
    console.print(Text(f"{result.tier}: {found.state}", style="bold"), f"(needs {card.needs})")
    if found.state == "stand_in":
        console.print(f"A stand-in, run on: {card.name}. Its cells are not compared.")
    if found.state == "not_run" and card.state != "not_run":
        console.print(
            f"Rebuild it: snakemake --cores 2 results/{result.tier}/{artefact.id}.verdicts.json"
        )
    if any(cell.rebuilt is not None for cell in found.cells):
        table = Table(box=None)
        for column in (*artefact.key_columns, "printed", "rebuilt", "verdict"):
            table.add_column(column)
        for cell, (digits, _) in zip(found.cells, artefact.precisions, strict=True):
            sign, style = SIGNS[cell.verdict]
            rebuilt = cell.rebuilt
            shown = "" if rebuilt is None else _rebuilt_text(cell, digits)
            table.add_row(
                *cell.key.values(),
                cell.printed,
                shown,
                Text(f"{sign} {cell.verdict_and_source}", style=style),
            )
        console.print(table)
    for cell in found.cells:
        if cell.verdict in OTHERWISE and cell.why:
            place = f"[{PLACES[cell.source]}] " if cell.source else ""
            console.print(f"{' / '.join(cell.key.values())}: {place}{cell.why}", markup=False)
    if found.state not in RUNNABLE:
        return
    for conclusion in found.conclusions:
        console.print(
            f"[printed {conclusion.on_printed}, rebuilt {conclusion.on_rebuilt}] "
            f"{conclusion.claim} ({conclusion.source})",
            markup=False,
        )


def _rebuilt_text(cell: JudgedCell, digits: int | Literal["text"]) -> str:
    # One digit more than printed, so that a reader sees how near the rounding was.
    if isinstance(cell.rebuilt, str) or digits == "text":
        return str(cell.rebuilt)
    return f"{cell.rebuilt:.{digits + 1}f}"


def summary() -> None:
    """Print the page's path and one line: artefacts, cells by verdict, conclusions that hold."""
    with errors_as_sentences():
        papers = project.papers()
        found = collect(papers, project.RESULTS, project.ROOT, wanted=can_be_run, audits=None)
    warn_of_faults(found)
    cells: Counter[Verdict] = Counter()
    explained: Counter[Where] = Counter()
    outcomes: Counter[str] = Counter()
    hollow = 0
    made = [result for result in found if result.report.state in ("rebuilt", "stand_in")]
    for result in made:
        cells.update(result.report.verdicts)
        explained.update(explained_by_source(result.report.cells))
        # A stand-in tests the method, not what the paper found; what follows from printed cells
        # tests the print.
        if without_rebuilt_cell(result.artefact.card, result.report):
            hollow += 1
        elif result.report.state == "rebuilt":
            outcomes.update(c.on_rebuilt for c in result.report.conclusions)
    by_verdict = counted(
        {name: cells[name] for name in VERDICTS}, {place: explained[place] for place in PLACES}
    )
    artefacts = sum(len(paper.artefacts) for paper in papers.values())
    states = Counter(result.report.state for result in made)
    typer.echo(f"Page: {project.RESULTS / 'index.html'}")
    typer.echo(
        f"{artefacts} artefacts, {states['rebuilt']} rebuilt ({hollow} of them without a rebuilt "
        f"cell) and {states['stand_in']} stand-ins; "
        f"cells: {by_verdict or 'none'}; conclusions: {outcomes['holds']} hold, "
        f"{outcomes['fails']} fail, {outcomes['undecided']} undecided."
    )


def page() -> None:
    """Draw the reproduction page again from the results on disk."""
    from everycell.engine.lineage import write_lineage
    from everycell.engine.render.page.page_file import write_page

    with errors_as_sentences():
        papers = project.papers()
        found = collect(papers, project.RESULTS, project.ROOT, audits=audits_of)
        path = write_page(project.RESULTS / "index.html", found, papers)
        write_lineage(project.RESULTS, project.ROOT, read_config(Path("config.yaml")).cache)
    warn_of_faults(found)
    typer.echo(f"Page: {path}")
