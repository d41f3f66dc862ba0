"""Checks of the claims of a record: their predicates, tests and surrogate data."""

from __future__ import annotations

from collections.abc import Iterator

from everycell.engine.artefacts import Artefact, Paper
from everycell.engine.cards import split_supplement_name
from everycell.engine.claims import Predicate
from everycell.engine.published_cells import CardError, Selector, key_columns

#: Keys that lead from a record to a fault, or the row of a published cell; and the sentence.
Fault = tuple[tuple[str | int, ...] | int, str]


def check_supplements(artefact: Artefact, paper: Paper) -> Iterator[Fault]:
    """Supplementary tables that predicates read and no record names."""
    for keys, predicate in _predicates(artefact):
        if predicate.beside is None:
            continue
        owner, suffix = split_supplement_name(predicate.beside)
        card = paper.artefacts[owner].card if owner in paper.artefacts else None
        card = card if owner else artefact.card
        if card is None or (suffix and suffix not in card.beside):
            yield (
                (*keys, "beside"),
                f"a predicate reads the table {predicate.beside!r}, which no record of "
                f"{paper.key} has; name it in `beside`.",
            )


def _predicates(artefact: Artefact) -> Iterator[tuple[tuple[str | int, ...], Predicate]]:
    """Predicates of a record with the keys that lead to them."""
    for number, claim in enumerate(artefact.card.conclusions):
        for part, predicate in enumerate(claim.holds_if):
            yield ("conclusions", number, "holds_if", part), predicate
    for tier, declared in artefact.card.tiers.items():
        for number, rule in enumerate(declared.speaks_if):
            for part, predicate in enumerate(rule.holds_if):
                yield ("tiers", tier, "speaks_if", number, "holds_if", part), predicate


def check_untestable(artefact: Artefact) -> Iterator[Fault]:
    """Claims that surrogate data test or leave out."""
    known = [conclusion.id for conclusion in artefact.card.conclusions]
    for name, tier in artefact.card.tiers.items():
        silent = tier.not_testable
        if silent and not known:
            yield (
                ("tiers", name, "not_testable"),
                f"`not_testable` of tier {name} covers no claim; drop it.",
            )
        names_by_field = {
            "speaks_if": [name for rule in tier.speaks_if for name in rule.conclusions],
            "not_testable": (silent.conclusions or []) if silent else [],
        }
        for field, names in names_by_field.items():
            for unknown in sorted(set(names).difference(known)):
                yield (
                    ("tiers", name, field),
                    f"`{field}` names {unknown!r}; its conclusions are {known}.",
                )
        for number, entry in enumerate(artefact.card.conclusions):
            on_other_data = any("stand_in" in part.tested_on for part in entry.holds_if)
            if tier.state == "stand_in" and not on_other_data and tier.can_test(entry.id):
                yield (
                    ("conclusions", number),
                    f"no predicate of {entry.id} is tested on surrogate data; name it in "
                    "`not_testable` of the tier, with the reason.",
                )


def check_claims(artefact: Artefact) -> Iterator[Fault]:
    """Claims whose predicates name no published cell, and ids that occur twice."""
    labels = artefact.card.labels
    try:
        cells = artefact.unlabelled(artefact.cells)
    except CardError as error:
        yield ("labels",), str(error).removeprefix(f"{artefact.id}: ")
        return
    names = key_columns(cells)
    published = set(cells[names].itertuples(index=False, name=None))
    for number, conclusion in enumerate(artefact.card.conclusions):
        where = f"conclusion {conclusion.id}"
        if conclusion.test and not any(part.tests_significance for part in conclusion.holds_if):
            yield (
                ("conclusions", number, "test"),
                f"{where} names a `test`, but no predicate reads a p-value, an interval or a "
                "marker; add one, or drop `test`.",
            )
        for part, predicate in enumerate(conclusion.holds_if):
            keys = ("conclusions", number, "holds_if", part)
            # The contents of supplementary tables and of surrogate data are not known before a run.
            if predicate.beside is not None or predicate.tested_on == ["stand_in"]:
                continue
            labels_used = set(labels) & {
                column for used in (predicate.cells, *predicate.moves) for column in used
            }
            if labels_used:
                yield (
                    keys,
                    f"{where} names the label {sorted(labels_used)[0]!r}, which only describes "
                    f"other columns; name cells by {names}.",
                )
                continue
            if fault := selector_fault(artefact, predicate.cells):
                yield (*keys, "cells"), fault
                continue
            selected = cells[artefact.select(predicate.cells)][names].to_dict("records")
            for override in predicate.moves:
                unknown = [column for column in override if column not in names]
                # Applied to each selected cell, an override must lead to a published cell.
                lost = [
                    key for key in selected if tuple((key | override).values()) not in published
                ]
                if unknown:
                    yield (
                        keys,
                        f"{where} names the column {unknown[0]!r}; the cells have {names}.",
                    )
                elif lost:
                    yield (
                        keys,
                        f"{where} compares with a cell that does not exist, {lost[0] | override}.",
                    )
    for field in ("conclusions", "errata"):
        ids = [entry.id for entry in getattr(artefact.card, field)]
        for number, name in enumerate(ids):
            if name in ids[:number]:
                yield (
                    (field, number),
                    f"the id {name!r} occurs {ids.count(name)} times; give each its own.",
                )


def selector_fault(artefact: Artefact, selector: Selector) -> str:
    """Why a selector names no cell; nothing if it does."""
    try:
        artefact.select(selector)
    except CardError as error:
        return str(error).removeprefix(f"{artefact.id}: ")
    return ""
