"""Checks of the claims of a record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from everycell.records.artefacts import Artefact, Paper
from everycell.records.claims import NotTestable, Predicate, Untested
from everycell.records.published_cells import RecordError, Selector, key_columns
from everycell.records.tables import split_supplement_name

#: Where a fault is (keys from the record down, or the row of a published cell), and its sentence.
Fault = tuple[tuple[str | int, ...] | int, str]


def check_supplements(artefact: Artefact, paper: Paper) -> Iterator[Fault]:
    """Find supplementary tables that predicates or errata read but no record declares."""
    tables: list[tuple[tuple[str | int, ...], str, str | None]] = [
        (keys, "a predicate", predicate.supplement) for keys, predicate in _predicates(artefact)
    ]
    for number, erratum in enumerate(artefact.record.errata):
        for part, entry in enumerate(erratum.yields):
            tables.append((("errata", number, "yields", part), "an erratum", entry.supplement))
    for keys, reader, table in tables:
        if table is None:
            continue
        owner, suffix = split_supplement_name(table)
        record = paper.artefacts[owner].record if owner in paper.artefacts else None
        record = record if owner else artefact.record
        if record is None or (suffix and suffix not in record.supplements):
            yield (
                (*keys, "supplement"),
                f"{reader} reads the table {table!r}, which no record of {paper.key} declares; "
                "add it to `supplements` of a record.",
            )


def _predicates(artefact: Artefact) -> Iterator[tuple[tuple[str | int, ...], Predicate]]:
    """Predicates of a record with the keys that lead to them."""
    for number, claim in enumerate(artefact.record.claims):
        for part, predicate in enumerate(claim.supported_if):
            yield ("claims", number, "supported_if", part), predicate
    for tier, declared in artefact.record.tiers.items():
        for number, rule in enumerate(declared.decisive_if):
            for part, predicate in enumerate(rule.supported_if):
                yield ("tiers", tier, "decisive_if", number, "supported_if", part), predicate


def check_untestable(artefact: Artefact) -> Iterator[Fault]:
    """Check which claims each tier on surrogate data can test."""
    claim_ids = [claim.id for claim in artefact.record.claims]
    for name, tier in artefact.record.tiers.items():
        exclusion = tier.not_testable
        if exclusion and not claim_ids:
            yield (
                ("tiers", name, "not_testable"),
                f"`not_testable` of tier {name} applies to no claim; remove it.",
            )
        names_by_field = {
            "decisive_if": [name for rule in tier.decisive_if for name in rule.claims],
            "not_testable": (exclusion.claims or []) if exclusion else [],
        }
        for field, names in names_by_field.items():
            for unknown in sorted(set(names).difference(claim_ids)):
                yield (
                    ("tiers", name, field),
                    f"`{field}` has the unknown claim {unknown!r}; the claims are {claim_ids}.",
                )
        for number, entry in enumerate(artefact.record.claims):
            on_surrogate_data = any("surrogate" in part.tested_on for part in entry.supported_if)
            if tier.state == "surrogate" and not on_surrogate_data and tier.can_test(entry.id):
                yield (
                    ("claims", number),
                    f"no predicate of {entry.id} is tested on surrogate data; add the claim to "
                    "`not_testable` of the tier, with the reason.",
                )


def check_claims(artefact: Artefact) -> Iterator[Fault]:
    """Find claims that select no published cell, and duplicate ids."""
    labels = artefact.record.labels
    try:
        cells = artefact.drop_labels(artefact.cells)
    except RecordError as error:
        yield ("labels",), str(error).removeprefix(f"{artefact.id}: ")
        return
    names = key_columns(cells)
    published = set(cells[names].itertuples(index=False, name=None))
    for number, claim in enumerate(artefact.record.claims):
        where = f"claim {claim.id}"
        if claim.test and not any(part.tests_significance for part in claim.supported_if):
            yield (
                ("claims", number, "test"),
                f"{where} has a `test`, but no predicate reads a p-value, interval or marker; add "
                "one or remove `test`.",
            )
        for part, predicate in enumerate(claim.supported_if):
            keys = ("claims", number, "supported_if", part)
            readings = artefact.record.readings
            if any(readings in used for used in (predicate.cells, *predicate.moves)):
                yield (
                    keys,
                    f"{where} selects the column {readings!r} of `readings`, but all claims are "
                    "tested on one reading, without that column; remove the column.",
                )
                continue
            # Cells of supplementary tables and of surrogate data are unknown before a run.
            if predicate.supplement is not None or predicate.tested_on == ["surrogate"]:
                continue
            labels_used = set(labels) & {
                column for used in (predicate.cells, *predicate.moves) for column in used
            }
            if labels_used:
                yield (
                    keys,
                    f"{where} uses the label column {sorted(labels_used)[0]!r}, which only "
                    f"describes other columns; select cells by {names}.",
                )
                continue
            if fault := selector_fault(artefact, predicate.cells):
                yield (*keys, "cells"), fault
                continue
            is_on_published = (
                "published" in predicate.tested_on and predicate.letters != "surrogate"
            )
            if predicate.needs_markers and is_on_published and "marker" not in cells:
                yield (
                    keys,
                    f"{where} reads the marker of cells, but {artefact.cells_path.name} has no "
                    "column `marker`; add the published markers, or exclude `published` from "
                    "`tested_on`.",
                )
            selected = cells[artefact.select(predicate.cells)][names].to_dict("records")
            for override in predicate.moves:
                unknown = [column for column in override if column not in names]
                # An override must turn the key of a selected cell into the key of another cell.
                missing = [
                    key for key in selected if tuple((key | override).values()) not in published
                ]
                if unknown:
                    yield (
                        keys,
                        f"{where} has the unknown column {unknown[0]!r}; the key columns are "
                        f"{names}.",
                    )
                elif missing:
                    yield (
                        keys,
                        f"{where} reads a cell that does not exist: {missing[0] | override}.",
                    )
    for field in ("claims", "errata"):
        ids = [entry.id for entry in getattr(artefact.record, field)]
        for number, name in enumerate(ids):
            if name in ids[:number]:
                yield (
                    (field, number),
                    f"the id {name!r} occurs {ids.count(name)} times; ids must be unique.",
                )


def check_missing(entry: Untested | NotTestable, files: Iterable[str]) -> str:
    """Why an entry lacks nothing: one of the released files has it; empty if it does.

    A missing column is looked for among the headings of the files by a test of the records, as
    it requires the data.
    """
    claim = entry.claim if isinstance(entry, Untested) else ""
    for missing in entry.missing:
        if missing.kind == "definition" and missing.name.lower() not in claim.lower():
            return f"the word {missing.name!r} of `missing` is not in the claim; quote it there."
        if missing.kind in ("file", "model", "system"):
            matches = [file for file in files if matches_name(missing.name, file)]
            if matches:
                return (
                    f"the {missing.kind} {missing.name!r} is not missing, since the registry has "
                    f"{matches[0]}; test the claim, or name what is missing."
                )
    return ""


def matches_name(name: str, text: str) -> bool:
    """Whether a text has all words of a name that have at least three letters or digits."""
    words = re.findall(r"[^\W_]{3,}", name.lower())
    return bool(words) and all(word in text.lower() for word in words)


def selector_fault(artefact: Artefact, selector: Selector) -> str:
    """Why a selector selects no cell; empty if it selects any."""
    try:
        artefact.select(selector)
    except RecordError as error:
        return str(error).removeprefix(f"{artefact.id}: ")
    return ""
