"""Checks of records: schemas of their files, and records against the published cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, create_model

from everycell.records.cells import RecordError, Selector, count_decimals, is_number, key_columns
from everycell.records.claims import NotTestable, Predicate, Untested
from everycell.records.full_runs import FullTier
from everycell.records.papers import (
    DASHES,
    NOT_REPORTED,
    Artefact,
    ChapterFile,
    Paper,
    PaperFile,
    Publication,
)
from everycell.records.registry import Registry
from everycell.records.spellings import split_bound
from everycell.records.tables import split_supplement_name

#: Models of the YAML files of a paper by name, with that of a publication.
MODELS: dict[str, type[BaseModel]] = {
    "paper": create_model(
        "PaperFile",
        __base__=PaperFile,
        __doc__=PaperFile.__doc__,
        publication=(Publication, PaperFile.model_fields["publication"]),
    ),
    "chapter": ChapterFile,
    "registry": Registry,
    "full": FullTier,
}
#: Kinds that a record may have, by the first word of its id.
_KINDS = {"table": ("table",), "figure": ("figure", "drawing"), "text": ("text",)}
#: Where a fault is (keys from the record down, or the row of a published cell), and its sentence.
Fault = tuple[tuple[str | int, ...] | int, str]


def model_of(path: Path) -> type[BaseModel] | None:
    """Model of a YAML file of a paper; None for other files."""
    return MODELS.get("chapter" if path.stem.startswith("ch") else path.stem)


def json_schemas() -> dict[str, str]:
    """Schemas as text, by file name."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        f"{name}.schema.json": json.dumps(draft | model.model_json_schema(), indent=2) + "\n"
        for name, model in MODELS.items()
    }


def write_schemas(folder: Path) -> None:
    """Write the schemas to a folder, which is created if necessary."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in json_schemas().items():
        (folder / name).write_text(text, encoding="utf-8")


def check_name(artefact: Artefact, paper: Paper) -> Iterator[Fault]:
    """Check that kind, state and chapter of an artefact match its id."""
    prefix, chapter = artefact.name.split("_")[:2]
    if artefact.record.kind not in _KINDS[prefix]:
        yield (
            ("kind",),
            f"{artefact.name} has the kind {artefact.record.kind!r}; an id that begins with "
            f"{prefix!r} requires the kind {' or '.join(_KINDS[prefix])}.",
        )
    for tier, declared in artefact.record.tiers.items():
        if (declared.state == "drawing") != (artefact.record.kind == "drawing"):
            yield (
                ("tiers", tier, "state"),
                f"{artefact.name} has the kind {artefact.record.kind!r}, but its state in tier "
                f"{tier} is {declared.state!r}; only drawings have the state drawing, and they "
                "have no other.",
            )
    # Only in a thesis does the number of a table begin with the chapter.
    if paper.kind == "thesis" and chapter != artefact.chapter:
        yield (
            (),
            f"{artefact.name} belongs to chapter {chapter}; move its record to ch{chapter}.yaml.",
        )


def check_selectors(artefact: Artefact) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Find selectors without matches, and errata with values for cells they do not select."""
    record = artefact.record
    selectors: list[tuple[tuple[str | int, ...], Selector]] = [
        ((field, number, "cells"), entry.cells)
        for field in (
            "precision",
            "tolerances",
            "quoted",
            "derived",
            "not_run",
        )
        for number, entry in enumerate(getattr(record, field))
    ]
    for kind, entries in record.kinds.items():
        selectors += [(("kinds", kind, number), entry) for number, entry in enumerate(entries)]
    for tier, declared in record.tiers.items():
        for column, names in declared.lacks.items():
            selectors.append((("tiers", tier, "lacks", column), {column: names}))
        for column, names in declared.may_lack.items():
            # The tables of a chapter share this list, but a table may have only some of its values.
            present = sorted(set(names) & set(artefact.cells.get(column, ())))
            selectors.append((("tiers", tier, "may_lack", column), {column: present or names}))
    for number, erratum in enumerate(record.errata):
        explained = pd.Series(False, index=artefact.cells.index)
        for part, selector in enumerate(erratum.cells):
            selectors.append((("errata", number, "cells", part), selector))
            if not selector_fault(artefact, selector):
                explained |= artefact.select(selector)
        for part, value in enumerate(erratum.yields):
            keys = ("errata", number, "yields", part, "cells")
            selectors.append((keys, value.cells))
            if not selector_fault(artefact, value.cells) and (
                (artefact.select(value.cells) & ~explained).any()
            ):
                yield (
                    keys,
                    f"erratum {erratum.id} yields a value for {value.cells}, which its `cells` do "
                    "not select; add a selector for them.",
                )
            unknown = sorted(value.at.keys() - set(artefact.key_columns))
            if value.supplement is None and unknown:
                yield (
                    ("errata", number, "yields", part, "at"),
                    f"erratum {erratum.id} has the unknown column {unknown[0]!r} in `at`; the key "
                    f"columns are {artefact.key_columns}.",
                )
    for keys, selector in selectors:
        if fault := selector_fault(artefact, selector):
            yield keys, fault


def check_decimals(artefact: Artefact) -> Iterator[Fault]:
    """Check declared decimals against metrics and published values."""
    declared, cells = artefact.record.decimals, artefact.cells
    metrics = sorted(set(cells["metric"])) if "metric" in cells else []
    for metric in declared:
        if metric != "all" and "metric" not in cells:
            yield (
                ("decimals", metric),
                f"`decimals` has the key {metric!r}, but {artefact.cells_path} has no column "
                "`metric`; use the key `all`, or rename the column of measures to `metric`.",
            )
        elif metric != "all" and metric not in metrics:
            yield (
                ("decimals", metric),
                f"`decimals` has the metric {metric!r}, which no cell has; the metrics are "
                f"{metrics}.",
            )
    reproduced = any(tier.state == "reproduced" for tier in artefact.record.tiers.values())
    if reproduced and "all" not in declared:
        for metric in metrics or ["all"]:
            if metric not in declared and not (declared and metric == "all"):
                yield (
                    ("decimals",),
                    f"`decimals` lacks the metric {metric!r}; add its number of decimals, or text.",
                )
    declared_empty = pd.Series(False, index=cells.index)
    for selector in artefact.record.kinds.get("empty", ()):
        declared_empty |= artefact.select(selector)
    rows = zip(cells.to_dict("records"), artefact.precisions, strict=True)
    for number, (row, (digits, _)) in enumerate(rows):
        if row.get("marker") == NOT_REPORTED and row["value"].strip() not in DASHES:
            yield (
                number,
                f"{row['value']!r} has the marker {NOT_REPORTED}; a value that is not reported is "
                "a dash. Write a dash or remove the marker.",
            )
        if digits == "text" or declared_empty.iloc[number]:
            continue
        value = split_bound(row["value"])[1]
        # A cell that is not reported has a dash instead of a number.
        if row.get("marker") == NOT_REPORTED:
            continue
        if not is_number(value):
            # Without declared decimals, a metric may mix numbers and text.
            if row.get("metric", "all") in declared or "all" in declared:
                yield (
                    number,
                    f"{value!r} is not a number, but `decimals` of the record is {digits}.",
                )
        elif count_decimals(value) > digits:
            yield number, f"{value!r} has more decimals than the {digits} in the record."


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
