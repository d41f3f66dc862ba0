"""Tests of the papers' claims on tables of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from everycell.records.cells import key_columns
from everycell.records.claims import Claim, DecisiveIf, Kind, Predicate
from everycell.records.papers import Artefact
from everycell.verdicts.comparisons import Cells, Key, compare

Outcome = Literal[
    "supported",
    "contradicted",
    "inconclusive",
    "not testable",
    "not run",
    "without published numbers",
]

#: Our interpretation of "almost all": supported if at least this share of the comparisons is true,
#: contradicted at one half or less, inconclusive in between. We chose both limits when we already
#: knew two results, 8 of 12 and 10 of 12; both are inconclusive.
ALMOST_ALL = 0.9
#: Returns a supplementary table by name, or None if it is missing.
FindTable = Callable[[str], pd.DataFrame | None]


@dataclass(frozen=True)
class Decision:
    """Outcome of a claim, and the reason."""

    outcome: Outcome
    detail: str


def no_table(name: str) -> pd.DataFrame | None:
    """Return None, since published cells have no supplementary tables."""
    return None


def evaluate(
    claim: Claim,
    table: pd.DataFrame,
    published: pd.DataFrame | None = None,
    *,
    kind: Kind = "published",
    lacks: Mapping[str, Sequence[str]] | None = None,
    find_table: FindTable = no_table,
    decisive_if: Sequence[DecisiveIf] = (),
) -> Decision:
    """Test a claim on a tidy table of cells; it is not run if a cell or column is missing."""
    # A reproduced figure may have the bounds of an interval after its values.
    keys = [column for column in key_columns(table) if column not in ("low", "high")]
    for name, columns, required in (
        ("table", table.columns, ["value"]),
        ("published table", keys if published is None else published.columns, keys),
    ):
        if missing := [column for column in required if column not in columns]:
            return Decision("not run", _no_column(name, missing[0], columns))
    cells = Cells.of(table, keys)
    expected = [] if published is None else Cells.of(published, cells.keys).names
    unmet = [
        rule
        for rule in decisive_if
        if (not rule.claims or claim.id in rule.claims)
        and not _is_testable(rule, cells, kind, find_table)
    ]
    for rule in unmet:
        if not rule.cells and not rule.claims:
            return Decision("not testable", rule.because)
    parts = [
        _adapt_predicate(part, kind) for part in claim.supported_if if _is_tested_on(part, kind)
    ]
    if not parts and kind == "published":
        return Decision(
            "without published numbers", "the paper does not publish the numbers that it compares"
        )
    if not parts:
        return Decision("not run", "not tested on " + _TABLES[kind])
    results = [
        _evaluate(part, _table_of(part, cells, expected, find_table), lacks or {}, unmet)
        for part in parts
    ]
    decisive = next((result for result in results if result.outcome == "not run"), None)
    if decisive and (claim.vague or claim.tests_must_agree):
        return decisive
    if claim.vague:
        details = "; ".join(dict.fromkeys(result.detail for result in results))
        why = f"{claim.vague!r} has no number in the paper"
        return Decision("inconclusive", f"{why}; of our interpretation: {details}")
    if claim.tests_must_agree and len({result.outcome for result in results}) > 1:
        details = "; ".join(
            f"{' / '.join(map(str, part.cells.values()))}: {result.outcome}"
            for part, result in zip(parts, results, strict=True)
        )
        why = "the paper does not specify which comparison it makes, and they disagree"
        return Decision("inconclusive", f"{why} ({details})")
    for outcome in ("contradicted", "not run", "inconclusive"):
        for result in results:
            if result.outcome == outcome:
                return result
    detail = "; ".join(dict.fromkeys(result.detail for result in results))
    if len(parts) < len(claim.supported_if):
        detail += f"; {len(parts)} of {len(claim.supported_if)} predicates are tested on "
        detail += _TABLES[kind]
    return Decision("supported", detail)


def decide_on_published(artefact: Artefact) -> list[Decision]:
    """Test the claims of an artefact on its published values."""
    if artefact.cells.empty:
        # Claims of a figure without published numbers are tested on its reproduced values.
        nothing = Decision("without published numbers", "the paper publishes no numbers for it")
        return [nothing] * len(artefact.record.claims)
    published = artefact.drop_labels(artefact.cells)
    return [evaluate(claim, published) for claim in artefact.record.claims]


_TABLES: Mapping[Kind, str] = {
    "published": "published values",
    "reproduced": "reproduced tables",
    "surrogate": "surrogate data",
}


def _is_tested_on(predicate: Predicate, kind: Kind) -> bool:
    return kind in predicate.tested_on and not (
        kind == "published" and predicate.supplement is not None
    )


def _adapt_predicate(predicate: Predicate, kind: Kind) -> Predicate:
    """Adapt a predicate to a kind of table."""
    if predicate.letters == "surrogate":
        return predicate.model_copy(update={"letters": kind == "surrogate"})
    return predicate


def _table_of(
    predicate: Predicate, cells: Cells, expected: Sequence[Key], find_table: FindTable
) -> tuple[Cells, Sequence[Key]] | str:
    """Table of a predicate and its expected cells, or why there is none."""
    if predicate.supplement is None:
        return cells, expected
    table = find_table(predicate.supplement)
    if table is None:
        return f"the supplementary table {predicate.supplement!r} is missing"
    columns = list(table.columns)
    if "value" not in columns:
        return _no_column(f"supplementary table {predicate.supplement!r}", "value", columns)
    return Cells.of(table, columns[: columns.index("value")]), ()


def _no_column(table: str, column: str, columns: Iterable[str]) -> str:
    return f"the {table} has no column {column!r}; its columns are {', '.join(columns)}"


def _is_testable(rule: DecisiveIf, cells: Cells, kind: Kind, find_table: FindTable) -> bool:
    results = [
        _evaluate(part, _table_of(part, cells, (), find_table), {}, ())
        for part in rule.supported_if
    ]
    return all(result.outcome == "supported" for result in results)


def _evaluate(
    predicate: Predicate,
    table: tuple[Cells, Sequence[Key]] | str,
    lacks: Mapping[str, Sequence[str]],
    unmet: Sequence[DecisiveIf],
) -> Decision:
    if isinstance(table, str):
        return Decision("not run", table)
    cells, expected = table
    selector, without = {}, ""
    for column, value in predicate.cells.items():
        all_names = [value] if isinstance(value, str) else value
        present = [name for name in all_names if name not in lacks.get(column, ())] or all_names
        selector[column] = present
        if len(present) < len(all_names):
            without += f", without {column} {', '.join(sorted(set(all_names) - set(present)))}"
    used = [*selector, *(column for override in predicate.moves for column in override)]
    absent = [column for column in used if column not in cells.keys]
    columns = [predicate.reads, *(["low", "high"] if predicate.interval else [])]
    columns += ["marker"] if predicate.needs_markers else []
    absent += [column for column in columns if column not in cells.columns]
    if absent:
        name = (
            "table"
            if predicate.supplement is None
            else f"supplementary table {predicate.supplement!r}"
        )
        return Decision("not run", _no_column(name, absent[0], [*cells.keys, *cells.columns]))
    selected = cells.select(selector, dict.fromkeys([*cells.names, *expected]))
    for column, names in selector.items():
        present_names = {key[cells.keys.index(column)] for key in selected}
        missing = [name for name in names if name not in present_names]
        # A claim must not be tested on only a part of its cells.
        if missing or not present_names:
            return Decision("not run", f"no cell has {column} = {(missing or names)[0]!r}")
    true, false, unknown, reasons = [], [], [], {}
    absent_cells: list[Key] = []
    for key in selected:
        why = _reason_untestable(predicate, cells, key, unmet)
        if not why:
            absent_cells += _absent_sides(predicate, cells, key)
        truth = None if why else compare(predicate, cells, key)
        (unknown if truth is None else true if truth else false).append(key)
        if why:
            reasons[why] = None
    outcome = _quantify(predicate.quantifier, len(true), len(false), len(unknown))
    if outcome == "inconclusive" and absent_cells:
        return Decision("not run", f"the table has no cell {_format_key(absent_cells[0])}")
    detail = f"{len(true)} of {len(selected)} comparisons true{without}"
    if predicate.quantifier == "almost all":
        detail += f"; 'almost all' means at least {ALMOST_ALL:.0%}, and half or less contradicts it"
    if unknown:
        detail += f", {len(unknown)} inconclusive"
    if outcome == "contradicted":
        against = true if predicate.quantifier == "none" else false
        detail += f"; against it: {_format_key(against[0])}" if against else ""
    if reasons:
        detail += f" ({' '.join(reasons)})"
    return Decision(outcome, detail)


def _absent_sides(predicate: Predicate, cells: Cells, key: Key) -> list[Key]:
    """Cells of a comparison that the table lacks."""
    moved = (cells.override_key(key, move) for move in predicate.moves)
    sides = [key, *(side for side in moved if side is not None)]
    return [side for side in sides if side not in cells.columns["value"]]


def _reason_untestable(
    predicate: Predicate, cells: Cells, key: Key, unmet: Sequence[DecisiveIf]
) -> str | None:
    """Why a comparison cannot be tested; None if it can."""
    sides = [key]
    if (
        predicate.other is not None
        and (against := cells.override_key(key, predicate.other)) is not None
    ):
        sides.append(against)
    for rule in unmet:
        if cells.select(rule.cells, sides):
            return rule.because
    return None


def _quantify(quantifier: str, true: int, false: int, unknown: int) -> Outcome:
    total = true + false + unknown
    low, high = {
        "all": (true == total, true + unknown == total),
        "any": (true > 0, true + unknown > 0),
        "none": (true + unknown == 0, true == 0),
        "most": (true > total / 2, true + unknown > total / 2),
        "all but one": (true >= total - 1, true + unknown >= total - 1),
        "almost all": (true >= ALMOST_ALL * total, true + unknown > total / 2),
    }[quantifier]
    return "supported" if low else "inconclusive" if high else "contradicted"


def _format_key(key: Key) -> str:
    return " / ".join(key)
