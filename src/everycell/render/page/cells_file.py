"""All results as data: a table of cells with verdicts, and a table of claims."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.records.papers import Artefact, Paper, all_artefacts
from everycell.records.tables import RUNNABLE
from everycell.render.page.vocabulary import PageEntry
from everycell.render.tables.layout import VALUE_COLUMNS
from everycell.verdicts.counting import (
    UNTESTABLE,
    ClaimClass,
    best_entries,
    cells_of,
    claims_of,
)
from everycell.verdicts.reports import UNCOUNTED

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
    papers: Mapping[str, Paper], results: Sequence[PageEntry], folder: Path
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


def claims_frame(papers: Mapping[str, Paper], results: Sequence[PageEntry]) -> pd.DataFrame:
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


def excluded_frame(results: Sequence[PageEntry]) -> pd.DataFrame:
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
    papers: Mapping[str, Paper], results: Sequence[PageEntry], folder: Path
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
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _by_artefact(
    papers: Mapping[str, Paper], results: Sequence[PageEntry]
) -> list[tuple[Artefact, list[PageEntry]]]:
    entries: dict[str, list[PageEntry]] = {}
    for entry in results:
        entries.setdefault(entry.artefact.id, []).append(entry)
    return [(artefact, entries.get(artefact.id, [])) for artefact in all_artefacts(papers)]


def _rows_without_values(artefact: Artefact, entry: PageEntry | None) -> Iterator[list[str]]:
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


def _rows(entry: PageEntry, folder: Path, *, counts: bool) -> Iterator[list[str]]:
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


def _surrogate_cells(entry: PageEntry, folder: Path) -> Iterator[tuple[dict[str, str], str, str]]:
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
