"""Tests of the papers' claims on tables of cells, and the basis of each test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from everycell.records.cells import key_columns
from everycell.records.claims import Claim, DecisiveIf, Kind, Predicate
from everycell.records.papers import Artefact
from everycell.records.tables import State
from everycell.verdicts.comparisons import Cells, Key, compare
from everycell.verdicts.reports import CellOrigin, JudgedCell, Outcome

#: Our interpretation of "almost all": supported if at least this share of the comparisons is true,
#: contradicted at one half or less, inconclusive in between. We chose both limits when we already
#: knew two results, 8 of 12 and 10 of 12; both are inconclusive.
ALMOST_ALL = 0.9
#: Returns a supplementary table by name, or None if it is missing.
FindTable = Callable[[str], pd.DataFrame | None]

#: Bases of tests of claims, from best to worst.
BASES = (
    "data",
    "published inputs",
    "given",
    "other cells",
    "constants",
    "quoted values",
    "surrogate data",
)

_TABLES: Mapping[Kind, str] = {
    "published": "published values",
    "reproduced": "reproduced tables",
    "surrogate": "surrogate data",
}


class Decision(NamedTuple):
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
    expected = [] if published is None else Cells.of(published, keys).names

    def test(
        part: Predicate,
        lacks: Mapping[str, Sequence[str]] | None = None,
        unmet: Sequence[DecisiveIf] = (),
    ) -> Decision:
        if part.letters == "surrogate":
            part = part.model_copy(update={"letters": kind == "surrogate"})
        if part.supplement is None:
            return _evaluate(part, cells, expected, "table", lacks or {}, unmet)
        name = f"supplementary table {part.supplement!r}"
        supplement = find_table(part.supplement)
        if supplement is None:
            return Decision("not run", f"the {name} is missing")
        columns = list(supplement.columns)
        if "value" not in columns:
            return Decision("not run", _no_column(name, "value", columns))
        own_cells = Cells.of(supplement, columns[: columns.index("value")])
        return _evaluate(part, own_cells, (), name, lacks or {}, unmet)

    unmet = [
        rule
        for rule in decisive_if
        if (not rule.claims or claim.id in rule.claims)
        and any(test(part).outcome != "supported" for part in rule.supported_if)
    ]
    for rule in unmet:
        if not rule.cells and not rule.claims:
            return Decision("not testable", rule.because)
    parts = [
        part
        for part in claim.supported_if
        if kind in part.tested_on and not (kind == "published" and part.supplement is not None)
    ]
    if not parts and kind == "published":
        return Decision(
            "without published numbers", "the paper does not publish the numbers that it compares"
        )
    if not parts:
        return Decision("not run", f"not tested on {_TABLES[kind]}")
    results = [test(part, lacks, unmet) for part in parts]
    not_run = next((result for result in results if result.outcome == "not run"), None)
    details = "; ".join(dict.fromkeys(result.detail for result in results))
    if not_run and (claim.vague or claim.tests_must_agree):
        return not_run
    if claim.vague:
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
    if len(parts) < (number := len(claim.supported_if)):
        details += f"; {len(parts)} of {number} predicates are tested on {_TABLES[kind]}"
    return Decision("supported", details)


def decide_on_published(artefact: Artefact) -> list[Decision]:
    """Test the claims of an artefact on its published values."""
    if artefact.cells.empty:
        # Claims of a figure without published numbers are tested on its reproduced values.
        nothing = Decision("without published numbers", "the paper publishes no numbers for it")
        return [nothing] * len(artefact.record.claims)
    published = artefact.drop_labels(artefact.cells)
    return [evaluate(claim, published) for claim in artefact.record.claims]


def _no_column(table: str, column: str, columns: Iterable[str]) -> str:
    return f"the {table} has no column {column!r}; its columns are {', '.join(columns)}"


def _evaluate(
    predicate: Predicate,
    cells: Cells,
    expected: Sequence[Key],
    table: str,
    lacks: Mapping[str, Sequence[str]],
    unmet: Sequence[DecisiveIf],
) -> Decision:
    """Test a predicate on the cells of a table with this name."""
    selector, without = {}, ""
    for column, value in predicate.cells.items():
        names = [value] if isinstance(value, str) else value
        selector[column] = [name for name in names if name not in lacks.get(column, ())] or names
        if omitted := set(names).difference(selector[column]):
            without += f", without {column} {', '.join(sorted(omitted))}"
    used = [*selector, *(column for move in predicate.moves for column in move)]
    read = [predicate.reads, *["low", "high"] * predicate.interval]
    read += ["marker"] * predicate.needs_markers
    absent = [column for column in used if column not in cells.keys]
    absent += [column for column in read if column not in cells.columns]
    if absent:
        return Decision("not run", _no_column(table, absent[0], [*cells.keys, *cells.columns]))
    selected = cells.select(selector, dict.fromkeys([*cells.names, *expected]))
    for column, names in selector.items():
        present = {key[cells.keys.index(column)] for key in selected}
        missing = [name for name in names if name not in present]
        # A claim must not be tested on only a part of its cells.
        if missing or not present:
            return Decision("not run", f"no cell has {column} = {(missing or names)[0]!r}")
    truths: dict[Key, bool | None] = {}
    reasons: dict[str, None] = {}
    absent_cells: list[Key] = []
    for key in selected:
        against = None if predicate.other is None else cells.override_key(key, predicate.other)
        sides = [key] if against is None else [key, against]
        why = next((rule.because for rule in unmet if cells.select(rule.cells, sides)), None)
        truths[key] = None if why else compare(predicate, cells, key)
        if why:
            reasons[why] = None
            continue
        moved = (cells.override_key(key, move) for move in ({}, *predicate.moves))
        absent_cells += [side for side in moved if side and side not in cells.columns["value"]]
    true, false, unknown = (
        [key for key in selected if truths[key] is truth] for truth in (True, False, None)
    )
    outcome = _quantify(predicate.quantifier, len(true), len(false), len(unknown))
    if outcome == "inconclusive" and absent_cells:
        return Decision("not run", f"the table has no cell {' / '.join(absent_cells[0])}")
    detail = f"{len(true)} of {len(selected)} comparisons true{without}"
    if predicate.quantifier == "almost all":
        detail += f"; 'almost all' means at least {ALMOST_ALL:.0%}, and half or less contradicts it"
    if unknown:
        detail += f", {len(unknown)} inconclusive"
    counterexamples = true if predicate.quantifier == "none" else false
    if outcome == "contradicted" and counterexamples:
        detail += f"; counterexample: {' / '.join(counterexamples[0])}"
    return Decision(outcome, detail + (f" ({' '.join(reasons)})" if reasons else ""))


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


# Basis of the test of a claim: where the values that its comparisons read come from.


class Basis(NamedTuple):
    """Best origin among the comparisons of a claim; empty if its cells were not run."""

    name: str
    #: Whether any comparison reads a quoted value beside a computed one.
    with_quoted: bool = False


def basis_of_table(state: State, cells: Sequence[JudgedCell], origin: CellOrigin) -> str:
    """Basis of a result: the best origin among its cells, or that of its values without cells."""
    if state == "surrogate":
        return "surrogate data"
    origins = {cell.origin for cell in cells} or {origin}
    return next((basis for basis in BASES if basis in origins), "other cells")


def bases_of_claims(
    artefact: Artefact, state: State, cells: Sequence[JudgedCell], origin: CellOrigin
) -> list[Basis]:
    """Basis of each claim of an artefact, from the judged cells of its result."""
    table_basis = basis_of_table(state, cells, origin)
    origins = None if state == "surrogate" or not cells else _origins_of_cells(artefact, cells)
    return [_basis_of_claim(claim, table_basis, origins) for claim in artefact.record.claims]


def _origins_of_cells(artefact: Artefact, cells: Sequence[JudgedCell]) -> Cells:
    table: pd.DataFrame = artefact.cells.assign(value=[cell.origin for cell in cells])
    table = artefact.drop_labels(table)
    return Cells.of(table, key_columns(table))


def _basis_of_claim(claim: Claim, table_basis: str, cells: Cells | None) -> Basis:
    if table_basis == "surrogate data":
        return Basis(table_basis)
    origins: set[str] = set()
    with_quoted = False
    for part in claim.supported_if:
        if "reproduced" not in part.tested_on:
            continue
        # The cells of supplementary tables have the basis of the table.
        if cells is None or part.supplement is not None:
            origins.add(table_basis)
            continue
        for sides in _sides(part, cells):
            if sides & {None, "none"}:
                continue
            computed = sides - {"quoted"}
            with_quoted |= computed != sides and bool(computed)
            best = next((basis for basis in BASES if basis in computed), "quoted values")
            origins.add(best)
    name = next((basis for basis in BASES if basis in origins), "")
    return Basis(name, with_quoted)


def _sides(part: Predicate, cells: Cells) -> list[set[str | None]]:
    """Origins of the cells of each comparison; None for a missing cell."""
    return [
        {cells.read(cells.override_key(key, move)) for move in ({}, *part.moves)}
        for key in cells.select(part.cells, cells.names)
    ]
