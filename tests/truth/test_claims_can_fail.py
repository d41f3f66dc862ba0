"""The published cells decide every claim of a record, and other cells would change its outcome."""

import itertools
import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from harness import published

from everycell.records.cells import as_number, key_columns
from everycell.records.claims import Claim, Kind, Predicate
from everycell.records.papers import Artefact, all_artefacts
from everycell.verdicts.claims import decide_on_published, evaluate
from everycell.verdicts.comparisons import Cells, Key, expand_marker

ARTEFACTS = list(all_artefacts(published()))
CLAIMS = [
    pytest.param(artefact, claim, id=f"{artefact.id} {claim.id}")
    for artefact in ARTEFACTS
    for claim in artefact.record.claims
]
PREDICATES = [
    pytest.param(artefact, claim, number, id=f"{artefact.id} {claim.id} {number + 1}")
    for artefact in ARTEFACTS
    for claim in artefact.record.claims
    for number in range(len(claim.supported_if))
]
PERMUTATIONS = 300
#: Words that need a limit, which the text does not give.
VAGUE = re.compile(
    r"\b(comparable|compet\w*|clear\w*|hardly|slightly|marginally|roughly|nearly|strong\w*|highly"
    r"|little|far|very|on a par|about (\d|four|ten))\b"
)
#: How a claim says which limit it is tested by.
OURS = re.compile(r"\(Our (margin|criterion)\b|is not quantified; the direction is tested\.\)")
#: Replacements of a cell: content by key and column.
Edits = dict[tuple[Key, str], object]


def outcome(claim: Claim, number: int, cells: pd.DataFrame, kind: Kind) -> str:
    """Outcome of one predicate alone; the table also replaces the supplementary one."""
    part = claim.supported_if[number]
    return evaluate(
        claim.model_copy(update={"supported_if": [part], "id": "one", "vague": None}),
        cells,
        kind=kind,
        find_table=lambda name: cells,
    ).outcome


def made_up(predicate: Predicate) -> pd.DataFrame:
    """A table with the cells that a predicate selects, for cells that are not published."""
    leads = [predicate.other, predicate.low, predicate.high, predicate.p, predicate.minus,
             predicate.other_minus, predicate.over, *predicate.rivals]  # fmt: skip
    labels = {
        column: {names} if isinstance(names, str) else set(names)
        for column, names in predicate.cells.items()
    }
    for lead in leads:
        for column, name in (lead or {}).items():
            labels.setdefault(column, {"another"}).add(name)
    keys = list(itertools.product(*map(sorted, labels.values()))) or [("only",)]
    table = pd.DataFrame(keys, columns=list(labels) or ["row"], dtype=str)
    return table.assign(**{column: "1" for column in dict.fromkeys(("value", predicate.reads))})


def against(predicate: Predicate, cells: Cells, key: Key) -> Iterator[Edits]:
    """Ways to turn one comparison round, significantly."""
    if predicate.among or predicate.op == "between":
        yield from against_position_or_range(predicate, cells, key)
        return
    if predicate.reads == "marker" or predicate.op in ("in", "not in"):
        selection = predicate.value if isinstance(predicate.value, list) else [predicate.value]
        now = expand_marker(str(cells.read(key, predicate.reads) or ""))
        without = [now.replace(str(text), "") for text in selection]
        for text in ("", "?", *selection, *without, *(now + str(text) for text in selection)):
            yield {(key, predicate.reads): text}
        return
    other = None if predicate.other is None else cells.override_key(key, predicate.other)
    right = predicate.value if other is None else cells.read(other)
    first, second = as_number(cells.read(key)), as_number(right)
    if first is None or second is None:
        for text in ("?", right):
            yield {(key, predicate.reads): text}
        return
    far = 10 * (abs(first) + abs(second) + 1)
    for side, centre in ((key, second), (other, first)):
        if side is None:
            continue
        for value in (centre - far, centre + far, centre, -centre):
            edits: Edits = {(side, predicate.reads): value}
            for name, slack in (("low", -1), ("high", 1)):
                if predicate.interval:
                    edits[(key, name)] = value + slack
                lead = getattr(predicate, name)
                if lead is not None:
                    edits[(cells.override_key(key, lead), "value")] = value + slack
            if predicate.p is not None:
                edits[(cells.override_key(key, predicate.p), "value")] = 0
            if predicate.sign is not None:
                edits[(key, "marker")] = predicate.sign
            if predicate.mark is not None:
                yield {(key, "marker"): ""}
                edits[(key, "marker")] = predicate.mark
            if predicate.letters and other is not None:
                (column,) = predicate.other
                at = cells.keys.index(column)
                for one, letter in ((key, other[at]), (other, key[at])):
                    edits[(one, "marker")] = f"{cells.read(one, 'marker') or ''}{letter}"
            yield edits


def against_position_or_range(predicate: Predicate, cells: Cells, key: Key) -> Iterator[Edits]:
    """Ways to move a cell to another position, or out of a range, and to take its mark away."""
    number = as_number(cells.read(key)) or 0.0
    far = 1000 * (abs(number) + 1)
    for value in (number - far, number + far):
        yield {(key, predicate.reads): value}
    if predicate.mark is not None:
        yield {(key, "marker"): ""}


def changed(cells: pd.DataFrame, edits: Edits, rows: dict[Key, object]) -> pd.DataFrame:
    """The table with these contents instead; `rows` are places of its keys."""
    table = cells.copy()
    for (key, column), content in edits.items():
        if key in rows:
            table.loc[rows[key], column] = content
    return table


def perturbed(predicate: Predicate, cells: pd.DataFrame, keys: list[str]) -> Iterator[pd.DataFrame]:
    """Tables that may change the outcome of one comparison, or of all."""
    known = Cells.of(cells, keys)
    selected = known.select(predicate.cells, known.names)
    ways = [list(against(predicate, known, key)) for key in selected]
    objects = cells.astype(object)
    names = objects[keys].astype(str).itertuples(index=False, name=None)
    rows = dict(zip(names, objects.index, strict=True))
    for edits in itertools.chain.from_iterable(ways):
        yield changed(objects, edits, rows)
    for together in itertools.zip_longest(*ways):
        every = {k: v for edits in together if edits for k, v in edits.items()}
        yield changed(objects, every, rows)
    # For claims that depend on several cells: the values of each metric are permuted.
    dice = np.random.default_rng(20261121)
    metrics = cells["metric"] if "metric" in cells else pd.Series("all", cells.index)
    groups = cells.groupby(metrics)["value"]
    for _ in range(PERMUTATIONS):
        yield cells.assign(value=groups.transform(lambda part: dice.permutation(part.to_numpy())))


def is_on_published(artefact: Artefact, predicate: Predicate) -> bool:
    """Whether the cells of a predicate are published, or have the keys of published ones."""
    own = predicate.supplement is None and predicate.tested_on != ["surrogate"]
    return own and not artefact.cells.empty


def ground(artefact: Artefact, predicate: Predicate) -> tuple[pd.DataFrame, list[str], Kind]:
    """The published cells, or invented ones for a predicate on other cells."""
    if is_on_published(artefact, predicate):
        cells = artefact.drop_labels(artefact.cells)
        return cells, key_columns(cells), predicate.tested_on[0]
    cells = made_up(predicate)
    kind = next(kind for kind in predicate.tested_on if kind != "published")
    return cells, list(cells.columns[: list(cells.columns).index("value")]), kind


def can_fail_alone(
    claim: Claim, number: int, cells: pd.DataFrame, keys: list[str], kind: Kind
) -> bool:
    """Whether some change makes one predicate fail and leaves the others as they are."""
    further = [item for item in range(len(claim.supported_if)) if item != number]
    before = {item: outcome(claim, item, cells, kind) for item in further}
    return any(
        outcome(claim, number, table, kind) == "contradicted"
        and all(outcome(claim, item, table, kind) == before[item] for item in further)
        for table in perturbed(claim.supported_if[number], cells, keys)
    )


@pytest.mark.parametrize(("artefact", "claim", "number"), PREDICATES)
def test_predicates_can_fail_alone(artefact: Artefact, claim: Claim, number: int) -> None:
    predicate = claim.supported_if[number]
    cells, keys, kind = ground(artefact, predicate)
    if "marker" not in cells and (predicate.sign or predicate.letters):
        cells = cells.assign(marker="")
    if not is_on_published(artefact, predicate):
        claim, number = claim.model_copy(update={"supported_if": [predicate]}), 0
    assert can_fail_alone(claim, number, cells, keys, kind), (
        "nothing contradicts this predicate alone: another one implies it, or it says nothing"
    )


@pytest.mark.parametrize(
    ("value", "quantifier", "expected"), [(1.5, "all", [True, True]), (0.5, "all", [False, True]),
                                          (1.5, "any", [False, True])]
)  # fmt: skip
def test_can_fail_alone_implied_predicate(value, quantifier, expected) -> None:
    cells = pd.DataFrame({"row": ["a", "b"], "value": [1.0, 2.0]})
    parts = [
        {"cells": {}, "op": ">", "value": value, "quantifier": quantifier},
        {"cells": {"row": "b"} if value > 1 else {}, "op": ">", "value": 1.8 if value > 1 else 0.8},
    ]
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=parts)
    result = [can_fail_alone(claim, number, cells, ["row"], "published") for number in (0, 1)]
    assert result == expected


@pytest.mark.parametrize(("artefact", "claim", "number"), PREDICATES)
def test_predicates_compare_different_cells(artefact: Artefact, claim: Claim, number: int) -> None:
    predicate = claim.supported_if[number]
    cells, keys, _ = ground(artefact, predicate)
    known = Cells.of(cells, keys)
    same = [
        key
        for key in known.names
        if predicate.other is not None
        and known.select(predicate.cells, [key])
        and known.override_key(key, predicate.other) == key
    ]
    assert not same, "this comparison is fixed by construction: leave it out of `cells`"


@pytest.mark.parametrize(("artefact", "claim"), CLAIMS)
def test_decide_on_published_as_declared(artefact: Artefact, claim: Claim) -> None:
    result = decide_on_published(artefact)[artefact.record.claims.index(claim)]
    # Without published cells, or on tables that only a run has, nothing can be tested.
    assert result.outcome in (claim.on_published, "without published numbers"), result.detail


@pytest.mark.parametrize("artefact", ARTEFACTS, ids=lambda artefact: artefact.id)
def test_contradicted_claims_have_an_erratum(artefact: Artefact) -> None:
    errata = {erratum.id for erratum in artefact.record.errata}
    for claim in artefact.record.claims:
        assert (
            claim.erratum in errata
            or claim.erratum is None
            and claim.on_published != "contradicted"
        )


@pytest.mark.parametrize(("artefact", "claim"), CLAIMS)
def test_vague_words_have_a_margin(artefact: Artefact, claim: Claim) -> None:
    if VAGUE.search(claim.claim):
        assert claim.vague or OURS.search(claim.claim)
