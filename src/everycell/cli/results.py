"""Results of the workflow: the list of all artefacts, their summary, and the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.table import Table

from everycell.base.files import write_atomically, write_json
from everycell.cli import project
from everycell.cli.named_files import Output
from everycell.cli.names import Names
from everycell.cli.options import Force, Form, Format, OnlyTier
from everycell.cli.printing import (
    echo,
    output_console,
    pluralise,
    print_for_programs,
    print_json,
    print_list,
    progress,
)
from everycell.cli.project import can_be_run, collect_results
from everycell.records.cells import RecordError
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, Paper, all_artefacts
from everycell.verdicts.audits import audits_of
from everycell.verdicts.counts import (
    BASES,
    COMPUTED,
    TESTED,
    Counts,
    count_chapters,
    summary_row,
    total,
)
from everycell.verdicts.headlines import (
    UNCOMPARED,
    claim_lines,
    describe_verdicts,
    headline,
    headlines,
)
from everycell.verdicts.reports import (
    GIVEN_COMPARED,
    STATES,
    VERDICTS,
    Result,
    Verdict,
    explained_by_source,
    format_counts,
)
from everycell.verdicts.results import stem_of

#: Columns with counts.
COUNTS = ("verdicts", "explained", "claims")


def list_results(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Papers, chapters or artefacts, in any spelling; all by default."),
    ] = None,
    tier: OnlyTier = None,
    state: Annotated[str | None, typer.Option(help="Only this state, e.g. reproduced.")] = None,
    verdict: Annotated[
        Verdict | None, typer.Option(help="Only artefacts that have a cell with this verdict.")
    ] = None,
    totals: Annotated[
        bool,
        typer.Option(
            "--totals", help="Sums per chapter, tier and state, and the claims of each chapter."
        ),
    ] = False,
    form: Format = "table",
) -> None:
    """List artefacts and tiers with state, verdicts and claims."""
    papers = project.papers()
    state = state and state.replace("-", " ")
    states = (*STATES, GIVEN_COMPARED)
    if state not in (None, *states):
        raise RecordError(f"--state is {state!r}; expected one of {', '.join(states)}.")
    index = Names(papers)
    selections = [index.find(name) for name in names or ["all"]]

    def is_selected(artefact: Artefact, artefact_tier: Tier | None = None) -> bool:
        return artefact_tier in (None, tier or artefact_tier) and any(
            selection.has(artefact, artefact_tier) for selection in selections
        )

    chapters = {
        _chapter_of(artefact) for artefact in all_artefacts(papers) if is_selected(artefact)
    }
    results = collect_results(
        papers,
        # Claims are counted for complete chapters.
        lambda artefact, artefact_tier: (
            _chapter_of(artefact) in chapters if totals else is_selected(artefact, artefact_tier)
        ),
    )
    rows = [
        row
        for row in (_row(result) for result in results if is_selected(result.artefact, result.tier))
        if state in (None, row["state"]) and (verdict is None or row["verdicts"][verdict])
    ]
    if totals:
        claims = {
            name: counts
            for (paper, chapter), counts in count_chapters(papers, results).items()
            if (name := f"{paper}_ch{chapter}") in chapters
        }
        _print_totals(_sums_by_chapter(rows), claims, form)
    elif form == "table":
        _print_table(rows, ["id", "tier", "state"])
    else:
        columns = ["id", "kind", "tier", "state", *COUNTS]
        entries = [{column: row[column] for column in columns} for row in rows]
        if form == "json":
            print_json(entries)
        else:
            print_for_programs(pd.json_normalize(entries, sep=" "), form)


def _print_totals(sums: list[dict[str, Any]], claims: Mapping[str, Counts], form: Form) -> None:
    """Print sums per chapter, tier and state, and the claims of each chapter."""
    columns = ["chapter", "tier", "state", "artefacts"]
    if form == "table":
        _print_table(sums, columns)
        output_console().print(_claims_table(claims))
        return
    entries = {
        "totals": [{column: row[column] for column in (*columns, *COUNTS)} for row in sums],
        "claims": [_claims(name, counts) for name, counts in claims.items()],
    }
    if form == "json":
        print_json(entries)
    else:
        frames = {name: pd.json_normalize(rows, sep=" ") for name, rows in entries.items()}
        print_for_programs(frames, form)


def _print_table(rows: list[dict[str, Any]], columns: list[str]) -> None:
    """Print rows, with counts such as "3 equal, 1 differs"."""
    lines = []
    for row in rows:
        verdicts = format_counts(row["verdicts"], row["explained"])
        outcomes = ", ".join(f"{number} {name}" for name, number in row["claims"].items() if number)
        lines.append([*(str(row[column]) for column in columns), verdicts, outcomes])
    names = ["artefact" if column == "id" else column for column in columns]
    counts = ("verdicts", "claims")
    print_list([*names, *counts], lines, wrapped=counts, dispensable=("claims", "verdicts"))


def _row(result: Result) -> dict[str, Any]:
    """A result's row, with its counts."""
    artefact = result.artefact
    names = {"kind": artefact.record.kind, "chapter": _chapter_of(artefact)}
    return summary_row(result) | names


def _chapter_of(artefact: Artefact) -> str:
    """Name of an artefact's chapter, which is also a Snakemake target."""
    return f"{artefact.paper}_ch{artefact.chapter}"


def _claims(name: str, counts: Counts) -> dict[str, Any]:
    """Claims of a chapter by outcome and by what they were tested on."""
    bases_by_key = {
        "reproduced": COMPUTED,
        "given": ("given",),
        "other_cells": ("other cells",),
        "constants": ("constants",),
        "quoted_values": ("quoted values",),
        "surrogate_data": ("surrogate data",),
    }
    return {
        "chapter": name,
        "found": counts.claimed,
        "tested": counts.tested,
        **{key: dict(counts.outcomes(*bases)) for key, bases in bases_by_key.items()},
        "not_run": counts.not_run,
        "untestable": counts.untestable,
    }


def _claims_table(claims: Mapping[str, Counts]) -> Table:
    """Claims of each chapter, and their outcomes."""
    table = Table(box=None)
    for column in ("chapter", "claims", "tested", *TESTED, "not run", "untestable"):
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
            for counts in COUNTS
        }
        for key, members in groups.items()
    ]


def page() -> None:
    """Redraw the page from the results on disk."""
    from everycell.config import read_config
    from everycell.receipts.provenance import write_lineage
    from everycell.render.page.pages import write_page
    from everycell.workflow.deviations import find_deviations

    papers = project.papers()
    results = collect_results(papers, audits=audits_of)
    config = read_config(Path("config.yaml"))
    index = project.RESULTS / "index.html"
    with progress("Drawing the page"):
        write_lineage(project.RESULTS, project.ROOT, config.cache)
        notices = find_deviations(project.RESULTS, project.ROOT).notices
        path = write_page(index, results, papers, notices, config.repository)
    echo(f"Page: {path}")


def _is_report(path: Path) -> bool:
    from everycell.cli.levels import is_report

    return is_report(path)


def report(
    out: Annotated[
        Path, typer.Argument(help="HTML file to write."), Output(is_replaced=_is_report)
    ],
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY]...", help="Papers; all by default.")
    ] = None,
    force: Force = False,
) -> None:
    """Write one HTML file to attach, with cells, verdicts, claims and the cost of each result.

    levels.json, beside it, has the levels of ACM's artifact review, each with its evidence and what
    is missing. A committee awards badges; everycell only collects what they are based on. An
    earlier report is replaced; other files only with --force.
    """
    from everycell.cli.levels import MARK, NOTE, POLICY, levels_of
    from everycell.cli.verification import find_faults
    from everycell.config import read_config
    from everycell.receipts.receipts import receipts_in
    from everycell.render.page.overview import build_page
    from everycell.render.page.pages import standalone_page

    if out.suffix not in (".html", ".htm"):
        raise RecordError(f"{out}: a report is an HTML file; choose a file name ending in .html.")
    path = out.with_name("levels.json")
    project.refuse_existing(path, force=force or _is_report(path))
    papers = project.papers()
    if unknown := {*(keys or ())} - papers.keys():
        raise RecordError(
            f"There is no paper {min(unknown)!r}; the papers are {', '.join(papers)}."
        )
    papers = {key: papers[key] for key in keys or papers}
    results = collect_results(papers, audits=audits_of)
    repository = read_config(Path("config.yaml")).repository
    page_content = build_page(papers, results, project.RESULTS, repository)
    faults = find_faults(project.RESULTS) if receipts_in(project.RESULTS) else []
    levels = {
        paper.about.key: levels_of(paper, project.ROOT, faults) for paper in page_content.papers
    }
    content = {"page": page_content, "levels": levels, "note": NOTE, "acm_policy": POLICY}
    content["mark"] = MARK
    write_atomically(out, standalone_page("report.html.j2", **content))
    write_json(path, {"note": NOTE, "policy": POLICY, "papers": levels})
    echo(f"{out}: {out.stat().st_size / 2**10:,.0f} KiB; {path}")


#: Outcomes of tested claims in the rows for programs.
_OUTCOMES = ("supported", "contradicted", "inconclusive")
#: Verdicts of cells that are not compared with values computed from data.
_OTHER = ("consistent", "inconsistent", "quoted")


def summary(form: Format = "table") -> None:
    """Count what was reproduced: artefacts, cells, claims."""
    print_summary(project.papers(), form=form)


def print_summary(
    papers: Mapping[str, Paper], chapters: Collection[str] = (), form: Form = "table"
) -> None:
    """Print the counts of papers, or of some chapters, and in a table also the page's path."""
    groups: dict[str, list[Counts]] = {} if chapters else {key: [] for key in papers}
    for (paper, chapter), counts in count_chapters(
        papers, collect_results(papers, can_be_run)
    ).items():
        if not chapters or f"{paper}_ch{chapter}" in chapters:
            groups.setdefault(f"{paper}_ch{chapter}" if chapters else paper, []).append(counts)
    totals = {name: total(group) for name, group in groups.items()}
    if form != "table":
        rows = [{"paper": key, **_summary_row(counts)} for key, counts in totals.items()]
        print_for_programs(pd.DataFrame(rows), form)
        return
    overall = total(totals.values())
    # The first line is what a reader remembers: bold if it counts values computed from data.
    for number, (name, verdicts) in enumerate(headlines(overall).items()):
        line = f"{'  ' * name.startswith('of them')}{headline(name, verdicts)}."
        echo(line, bold=number == 0, dim=verdicts.keys() <= {*UNCOMPARED})
    for name, line in claim_lines(overall).items():
        echo(f"{'  ' * name.startswith('of them')}{line}.")
    for name, counts in totals.items():
        echo(f"{name}: {_summary_line(counts)}")
    if len(totals) > 1:
        echo(f"All: {_summary_line(overall)}")
    echo(f"Page: {project.RESULTS / 'index.html'}")


def print_outcomes(
    papers: Mapping[str, Paper], requests: Collection[tuple[Artefact, Tier]]
) -> None:
    """Print the verdicts of results that were requested by name, their files, and what is next."""
    keys = {(artefact.id, tier) for artefact, tier in requests}
    for result in collect_results(papers, lambda artefact, tier: (artefact.id, tier) in keys):
        report = result.report
        verdicts = format_counts(report.verdicts, explained_by_source(report.cells))
        if report.state == "surrogate":
            verdicts = "run on surrogate data; no published value is compared"
        name = result.artefact.id
        echo(f"{name} ({result.tier}): {verdicts or 'made; the paper states no values'}.")
        path = stem_of(result.artefact, result.tier, project.RESULTS)
        suffix = ".svg" if f"{path.name}.svg" in report.files else ".html"
        echo(f"  {path.with_suffix(suffix)}")
    names = dict.fromkeys(artefact.id for artefact, _ in requests)
    echo(f"Next: `everycell show {next(iter(names))}` shows its cells.")


def _summary_row(counts: Counts) -> dict[str, Any]:
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
            verdict: (verdicts if verdict in _OTHER else compared)[verdict]
            for verdict in VERDICTS
            if verdict != "not run"
        },
        "claims": counts.claimed,
        **{f"{outcome}_on_published": on_published[outcome] for outcome in _OUTCOMES},
        **{f"{outcome}_on_reproduced": on_reproduced[outcome] for outcome in _OUTCOMES},
    }


def _summary_line(counts: Counts) -> str:
    """Sentence on the artefacts and cells reproduced from data or published inputs, or given."""
    verdicts = counts.verdicts(origin=COMPUTED)
    described = f": {describe_verdicts(verdicts)}" if counts.reproduced else ""
    parts = [
        f"{counts.states['reproduced']} of {pluralise(counts.artefacts, 'artefact')} reproduced",
        *(
            f"{counts.states[state]} {words}"
            for state, words in {
                GIVEN_COMPARED: "with given values only",
                "surrogate": "run on surrogate data",
            }.items()
            if counts.states[state]
        ),
    ]
    cells = [f"{counts.reproduced:,} of {counts.published:,} cells reproduced{described}"]
    if of_given := counts.verdicts(origin="given"):
        cells.append(f"{of_given.total():,} given: {describe_verdicts(of_given)}")
    return f"{', '.join(parts)}; {'; '.join(cells)}."
