"""Files of the reproduction page: an overview, one page per chapter, all cells and all claims."""

from __future__ import annotations

import hashlib
import io
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import pandas as pd
from jinja2 import Environment, PackageLoader

from everycell.base.csv_files import csv_text
from everycell.base.files import write_atomically
from everycell.receipts.diff import Notice
from everycell.records.folders import TIERS
from everycell.records.papers import Artefact, Paper, all_artefacts, load_papers
from everycell.records.tables import RUNNABLE
from everycell.render import vocabulary
from everycell.render.grid import VALUE_COLUMNS
from everycell.render.page.differences import deviation_plot, difference_files, overview_plot
from everycell.render.page.overview import Page, build_page, links_of
from everycell.render.table_files import html_environment
from everycell.render.vocabulary import GROUPS, OUTCOMES, VERDICTS, section_and_page
from everycell.verdicts.counts import UNTESTABLE, ClaimClass, best_entries, cells_of, claims_of
from everycell.verdicts.headlines import HEADLINES
from everycell.verdicts.reports import CAUSE_NAMES, GIVEN_COMPARED, STATES, UNCOUNTED, Result

INDEX = "index.html"
#: Longer lists of differences are collapsed.
_MAX_UNFOLDED = 12
#: Search library, as published by its authors; its licence is in the same folder.
_SEARCH_LIBRARY = "minisearch-7.2.0.js"


def write_page(
    path: Path,
    results: Sequence[Result],
    papers: Mapping[str, Paper] | None = None,
    notices: Sequence[Notice] = (),
    repository: str | None = None,
) -> Path:
    """Write the overview, the pages of the chapters, and their data files.

    `notices` name results that were made with other settings than the project's; `repository` is
    the address that links to code begin with.
    """
    if papers is None:
        papers = load_papers(results[0].artefact.folder.parent)
    pages = pages_of(path.parent, results, papers, notices, repository)
    for name, content in pages.items():
        if name != INDEX:
            write_atomically(path.parent / name, content)
    return write_atomically(path, pages[INDEX])


def pages_of(
    folder: Path,
    results: Sequence[Result],
    papers: Mapping[str, Paper],
    notices: Sequence[Notice] = (),
    repository: str | None = None,
) -> dict[str, bytes]:
    """Files of the reproduction page of a results folder, as `write_page` writes them."""
    page = build_page(papers, results, folder, repository)
    pages: dict[str, bytes] = {}
    for paper in page.papers:
        for before, chapter, after in zip(
            [None, *paper.chapters], paper.chapters, [*paper.chapters[1:], None], strict=False
        ):
            pages[chapter.page] = _render(
                "chapter.html.j2",
                ["cells.js", "page.js"],
                paper=paper,
                chapter=chapter,
                deviations=deviation_plot(chapter),
                previous=before,
                next=after,
            )
            pages |= difference_files(chapter)
    pages["badge.svg"] = _badge(page)
    index = _render(
        "index.html.j2",
        ["page.js", _SEARCH_LIBRARY, "search.js"],
        page=page,
        deviations=overview_plot(page.papers),
        notices=notices,
    )
    return pages | data_files(papers, results, folder) | {INDEX: index}


def standalone_page(template: str, **variables: Any) -> bytes:
    """Page in one file, without searches and links to other files."""
    return _render(template, ["page.js"], **variables)


def outdated_pages(folder: Path, pages: Mapping[str, bytes]) -> list[Path]:
    """Files of the page that are missing from a results folder, or differ in content."""
    return [
        folder / name
        for name, content in pages.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content
    ]


@cache
def page_environment() -> Environment:
    """Templates of the page, with the words and filters that they use."""
    environment = html_environment("everycell.render.page")
    environment.filters |= {
        "css": vocabulary.css_class,
        "links": links_of,
        "section_and_page": section_and_page,
    }
    cast(dict[str, Any], environment.tests).update(
        numeric=vocabulary.is_numeric, sign=vocabulary.is_sign
    )
    cast(dict[str, Any], environment.globals).update(
        palette=vocabulary,
        css_colours=vocabulary.css_colours,
        meaning={
            "verdicts": VERDICTS,
            "groups": GROUPS,
            "states": STATES,
            "given": GIVEN_COMPARED,
            "runnable": RUNNABLE,
            "outcomes": OUTCOMES,
            "places": CAUSE_NAMES,
            "tiers": TIERS,
            "max_unfolded": _MAX_UNFOLDED,
        },
    )
    return environment


def _render(template: str, scripts: Sequence[str], **variables: Any) -> bytes:
    environment, loader = page_environment(), PackageLoader("everycell.render.page")
    texts = [
        # The source map is not included.
        loader.get_source(environment, name)[0].partition("//# sourceMappingURL")[0]
        for name in scripts
    ]
    page = environment.get_template(template)
    return page.render(variables, scripts=texts, policy=policy_of(texts)).encode()


def _badge(page: Page) -> bytes:
    """Badge for a README: how many numbers equal the published ones, and how many were not run."""
    verdicts = page.headlines.get(next(iter(HEADLINES)), Counter())
    of_given, not_run = page.counts.verdicts(origin="given"), page.numbers_not_run
    label = "everycell"
    message = f"{verdicts['equal']} of {verdicts.total() + not_run} numbers reproduced"
    if of_given and not verdicts:
        message = f"none reproduced; {of_given['equal']} of {of_given.total()} given values equal"
    message += f"; {not_run} not run" * bool(not_run)
    if verdicts["too noisy to judge"]:
        message += f"; {verdicts['too noisy to judge']} too noisy to judge"
    left, right = (12 + 7 * len(text) for text in (label, message))
    badge = page_environment().get_template("badge.svg.j2")
    return badge.render(label=label, message=message, left=left, right=right).encode()


def policy_of(scripts: Sequence[str]) -> str:
    """Content security policy of a page: only its own scripts run, and nothing else is loaded.

    Images in the results folder are allowed, from a disk or a server. Inline styles are allowed
    because they set the widths of bars.
    """
    hashes = [
        f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    ]
    return (
        f"default-src 'none'; script-src {' '.join(hashes)}; style-src 'unsafe-inline'; "
        "img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
    )


CELL_COLUMNS = [
    "paper",
    "artefact",
    "tier",
    "state",
    "counts",
    "key",
    "published",
    "reproduced",
    "verdict",
    "kind",
    "origin",
    "flag",
    "sensitivity",
    "moves_with",
    "difference",
    "tolerance",
    "cause",
    "explanation",
]
CLAIM_COLUMNS = [
    "paper",
    "chapter",
    "artefact",
    "claim",
    "tier",
    "counts",
    "basis",
    "outcome",
    "on_published",
    "on_reproduced",
    "cause",
    "flag",
    "test",
    "source",
    "statement",
    "detail",
]


def cells_frame(
    papers: Mapping[str, Paper], results: Sequence[Result], folder: Path
) -> pd.DataFrame:
    """Cells of all artefacts and tiers; each published cell is counted in exactly one row."""
    best = best_entries(results)
    rows: list[list[str]] = []
    for artefact, entries in _by_artefact(papers, results):
        counted_entry = best.get(artefact.id)
        if (
            counted_entry is None
            or counted_entry.report.state != "reproduced"
            or not counted_entry.report.cells
        ):
            rows += _rows_without_values(artefact, counted_entry)
            entries = [entry for entry in entries if entry.report.state in RUNNABLE]
        for entry in entries:
            rows += _rows(entry, folder, counts=counted_entry is entry)
    return pd.DataFrame(rows, columns=CELL_COLUMNS, dtype=str)


def claims_frame(papers: Mapping[str, Paper], results: Sequence[Result]) -> pd.DataFrame:
    """Claims of all artefacts in each tier that was run; each claim is counted in one row."""
    best = best_entries(results)
    rows: list[list[str]] = []
    for artefact, entries in _by_artefact(papers, results):
        about = [artefact.paper, artefact.chapter, artefact.name]
        run_entries = [entry for entry in entries if entry.report.state in RUNNABLE]
        for entry in run_entries:
            counts = "yes" if best[artefact.id] is entry else ""
            classes = claims_of(artefact, entry)
            for claim_class, judged in zip(classes, entry.report.claims, strict=True):
                texts = [judged.test or "", judged.source, judged.claim, judged.detail]
                rows.append(
                    [*about, judged.id, entry.tier, counts, *_outcomes(claim_class), *texts]
                )
        if not run_entries:
            classes = claims_of(artefact, None)
            for claim_class, claim in zip(classes, artefact.record.claims, strict=True):
                texts = [claim.test or "", claim.source, claim.claim, ""]
                rows.append([*about, claim.id, "", "yes", *_outcomes(claim_class), *texts])
    for paper in papers.values():
        for chapter, untested in paper.untested.items():
            rows += [
                [paper.key, chapter, *[""] * 3, "yes", *_outcomes(ClaimClass(UNTESTABLE)), ""]
                + [claim.source, claim.claim, claim.reason]
                for claim in untested
            ]
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS, dtype=str)


def _outcomes(claim: ClaimClass) -> list[str]:
    """Columns of ``claims.csv`` from `basis` to `flag`."""
    outcomes = [claim.outcome, claim.on_published, claim.on_reproduced]
    return [claim.basis, *outcomes, claim.cause, claim.flag]


#: Columns of the table of claims that surrogate data cannot decide.
EXCLUDED_COLUMNS = ["paper", "artefact", "tier", "claim", "statement", "reason"] + [
    "on_published",
    "on_surrogate",
]


def excluded_frame(results: Sequence[Result]) -> pd.DataFrame:
    """Claims that surrogate data cannot decide, with what the test of each gives there."""
    rows = [
        [entry.artefact.paper, entry.artefact.name, entry.tier, claim.id, claim.claim]
        + [claim.detail, claim.on_published, claim.excluded]
        for entry in results
        for claim in entry.report.claims
        if claim.excluded is not None
    ]
    return pd.DataFrame(rows, columns=EXCLUDED_COLUMNS, dtype=str)


def data_files(
    papers: Mapping[str, Paper], results: Sequence[Result], folder: Path
) -> dict[str, bytes]:
    """Names and contents of the files that list all cells and all claims."""
    frame = cells_frame(papers, results, folder)
    parquet = io.BytesIO()
    frame.to_parquet(parquet, index=False)
    return {
        "cells.csv": _as_csv(frame),
        "cells.parquet": parquet.getvalue(),
        "claims.csv": _as_csv(claims_frame(papers, results)),
        "excluded_claims.csv": _as_csv(excluded_frame(results)),
    }


def _as_csv(frame: pd.DataFrame) -> bytes:
    return csv_text(frame).encode()


def _by_artefact(
    papers: Mapping[str, Paper], results: Sequence[Result]
) -> list[tuple[Artefact, list[Result]]]:
    entries: dict[str, list[Result]] = {}
    for entry in results:
        entries.setdefault(entry.artefact.id, []).append(entry)
    return [(artefact, entries.get(artefact.id, [])) for artefact in all_artefacts(papers)]


def _rows_without_values(artefact: Artefact, entry: Result | None) -> Iterator[list[str]]:
    """Rows of published cells that no tier computes, with the needs of the deepest tier."""
    tier, declared = list(artefact.record.tiers.items())[-1]
    classes = cells_of(artefact, entry)
    for (key, published), cell in zip(_published_values(artefact).items(), classes, strict=True):
        if cell.kind not in UNCOUNTED:
            about = [
                artefact.paper,
                artefact.name,
                tier,
                cell.verdict,
                "yes",
                _json(dict(key)),
            ]
            about += [published, "", cell.verdict, cell.kind, cell.origin, cell.flag or ""]
            yield [*about, cell.sensitivity, *[""] * 4, declared.needs]


def _rows(entry: Result, folder: Path, *, counts: bool) -> Iterator[list[str]]:
    artefact, report = entry.artefact, entry.report
    counted = "yes" if counts and report.state == "reproduced" else ""
    about = [artefact.paper, artefact.name, entry.tier, report.state, counted]
    if report.state == "surrogate":
        run_on = report.foreign or artefact.record.tiers[entry.tier].name
        name = f"surrogate data, not compared: {run_on}"
        for key, published, value in _surrogate_cells(entry, folder):
            yield [*about, _json(key), published, value, *[""] * 9, name]
        return
    for cell in report.cells:
        reproduced = "" if cell.reproduced is None else str(cell.reproduced)
        if cell.kind in UNCOUNTED:
            continue
        content = [
            cell.published,
            reproduced,
            cell.verdict,
            cell.kind,
            cell.origin,
            cell.flag or "",
        ]
        sensitivity = artefact.sensitivity(entry.tier, cell.key)
        content += [sensitivity.state, "; ".join(sensitivity.moves_with)]
        distances = ["" if x is None else f"{x:.6g}" for x in (cell.difference, cell.allowed)]
        yield [*about, _json(cell.key), *content, *distances, cell.cause, cell.why or ""]


def _published_values(artefact: Artefact) -> dict[tuple[tuple[str, str], ...], str]:
    """Key of each published cell -> its value."""
    if artefact.cells.empty:
        return {}
    return {
        tuple((name, row[name]) for name in artefact.key_columns): row["value"]
        for row in artefact.cells.to_dict("records")
    }


def _surrogate_cells(entry: Result, folder: Path) -> Iterator[tuple[dict[str, str], str, str]]:
    artefact = entry.artefact
    if f"{artefact.name}.csv" not in entry.report.files:
        return
    path = folder / entry.tier / artefact.paper / f"{artefact.name}.csv"
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    keys = [column for column in table.columns if column not in VALUE_COLUMNS]
    has_same_keys = not artefact.cells.empty and set(keys) == set(artefact.key_columns)
    if has_same_keys:
        keys = artefact.key_columns
    published = _published_values(artefact) if has_same_keys else {}
    for row in table.to_dict("records"):
        key = tuple((name, row[name]) for name in keys)
        yield dict(key), published.get(key, ""), row.get("value", "")


def _json(key: Mapping[str, str]) -> str:
    return json.dumps(key, ensure_ascii=False)
