"""Results of the workflow: the list of all artefacts, and the page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.table import Table

from everycell.cli import project
from everycell.cli.names import Names
from everycell.cli.printing import output_console, print_for_programs, print_json
from everycell.cli.project import (
    Format,
    TierOption,
    check_choice,
    errors_as_sentences,
    warn_of_faults,
)
from everycell.config import read_config
from everycell.engine.artefacts import Artefact, all_artefacts
from everycell.engine.counting import BASES, NOT_RUN, TESTED, Counts, count_chapters
from everycell.engine.reports import OUTCOME_NAMES, STATES, VERDICTS, counted, summary_row
from everycell.engine.results import collect
from everycell.engine.tiers import TIERS, Tier
from everycell.studies.discovery import audits_of


def list_(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Works, chapters or artefacts, however spelled; all by default."),
    ] = None,
    tier: TierOption = None,
    state: Annotated[str | None, typer.Option(help="Only this state, e.g. reproduced.")] = None,
    verdict: Annotated[
        str | None, typer.Option(help="Only artefacts with such a cell, e.g. differs.")
    ] = None,
    totals: Annotated[
        bool,
        typer.Option(
            "--totals", help="Sums per chapter, tier and state, and the claims of each chapter."
        ),
    ] = False,
    form: Format = "table",
) -> None:
    """List every artefact and tier with its state, verdicts and claims."""
    with errors_as_sentences():
        papers = project.papers()
        check_choice("tier", tier, TIERS)
        state = state and state.replace("-", " ")
        check_choice("state", state, tuple(STATES.values()))
        check_choice("verdict", verdict, VERDICTS)
        known = Names(papers)
        wanted = [known.find(name) for name in names or ["all"]]

        def named(artefact: Artefact, of: Tier | None = None) -> bool:
            return any(one.has(artefact, of) for one in wanted) and of in (None, tier or of)

        asked = {_chapter_of(artefact) for artefact in all_artefacts(papers) if named(artefact)}
        found = collect(
            papers,
            project.RESULTS,
            project.ROOT,
            # Claims are summed over a chapter as a whole.
            wanted=lambda artefact, of: (
                _chapter_of(artefact) in asked if totals else named(artefact, of)
            ),
            audits=None,
        )
    claims = {
        name: counts
        for (paper, chapter), counts in count_chapters(papers, found).items()
        if (name := f"{paper}_ch{chapter}") in asked
    }
    found = [one for one in found if named(one.artefact, one.tier)]
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
        keys = [*first, "verdicts", "explained", "claims"]
        listed = {"totals" if totals else "rows": [{key: row[key] for key in keys} for row in rows]}
        if totals:
            listed["claims"] = [_claims(name, counts) for name, counts in claims.items()]
        if form == "json":
            print_json(listed if totals else listed["rows"])
        else:
            flat = {name: pd.json_normalize(of, sep=" ") for name, of in listed.items()}
            print_for_programs(flat if totals else flat["rows"], form)
        return
    table = Table(box=None)
    for column in (*names_of_rows, "verdicts", "claims"):
        table.add_column("artefact" if column == "id" else column)
    for row in rows:
        verdicts = counted(row["verdicts"], row["explained"])
        outcomes = ", ".join(f"{n} {name}" for name, n in row["claims"].items() if n)
        table.add_row(*(str(row[column]) for column in names_of_rows), verdicts, outcomes)
    if rows:
        output_console().print(table)
    else:
        typer.echo("Nothing matches; `everycell list` without options lists everything.")
    if totals:
        output_console().print(_claims_table(claims))


def _chapter_of(artefact: Artefact) -> str:
    """Name of an artefact's chapter, which is also Snakemake's target."""
    return f"{artefact.paper}_ch{artefact.chapter}"


def _claims(name: str, counts: Counts) -> dict[str, Any]:
    """Claims of a chapter by outcome and by what they were tested on."""
    of_base = {
        "reproduced": ("data", "published inputs"),
        "other_cells": ("other cells",),
        "surrogate_data": ("surrogate data",),
    }
    return {
        "chapter": name,
        "found": counts.claimed,
        "tested": counts.tested,
        **{
            base: {OUTCOME_NAMES[key]: number for key, number in counts.outcomes(*bases).items()}
            for base, bases in of_base.items()
        },
        "not_run": counts.claims[NOT_RUN],
        "untestable": counts.untestable,
    }


def _claims_table(claims: Mapping[str, Counts]) -> Table:
    """Claims of each chapter, and their outcomes."""
    table = Table(box=None)
    shown = [OUTCOME_NAMES[outcome] for outcome in TESTED]
    for column in ("chapter", "claims", "tested", *shown, "not run", "untestable"):
        table.add_column(column, justify="left" if column == "chapter" else "right")
    for name, counts in claims.items():
        row = _claims(name, counts)
        outcomes = counts.outcomes(*BASES)
        numbers = [row["found"], row["tested"], *(outcomes[key] for key in TESTED)]
        table.add_row(name, *map(str, [*numbers, row["not_run"], row["untestable"]]))
    return table


def _sums_by_chapter(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sums of verdicts and claims over the artefacts of a chapter, tier and state."""
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
            for counts in ("verdicts", "explained", "claims")
        }
        for key, members in groups.items()
    ]


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
