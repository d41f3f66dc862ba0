"""Checks that cards and published cells fit each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from everycell.engine.artefacts import Artefact, Paper, all_artefacts, read_card_file
from everycell.engine.cards import RUNNABLE, PaperFile, table_beside
from everycell.engine.publications import read_publication
from everycell.engine.published_cells import CardError, decimals_shown, is_number, key_columns
from everycell.engine.spread import SEEDS
from everycell.engine.tolerances import is_rounded

#: Kinds of card that an id may have, by its first word.
_KINDS = {"table": ("table",), "figure": ("figure", "drawing"), "text": ("text",)}


def check_cards(papers: Mapping[str, Paper]) -> list[str]:
    """Check cards against cells; return one sentence per fault.

    The faults are: ids that name a kind or (in a thesis) a chapter other than the card's; drawings
    that some tier rebuilds; selectors that name no cell; comparisons with a missing cell; numbers
    that cannot be parsed in a metric with declared decimals; declared metrics without cells, and
    cells without declared decimals; more digits published than declared; labels that are not key
    columns or that distinguish two cells; layouts that miss a key column; tolerances from seeds
    where there are none; and cells files without a card, or cards that refer to cells without a
    file.
    """
    faults: list[str] = []
    for artefact in all_artefacts(papers):
        faults.extend(_check_name(artefact, papers[artefact.paper]))
        faults.extend(_check_tables_beside(artefact, papers[artefact.paper]))
        try:
            faults.extend(_check_artefact(artefact))
        except CardError as error:
            faults.append(str(error))
    for paper in papers.values():
        home = next(iter(paper.artefacts.values())).folder if paper.artefacts else None
        if home is None:
            faults.append(f"{paper.key}: has no artefact; add a chapter file with cards.")
            continue
        facts = read_card_file(home / "paper.yaml", PaperFile).facts
        try:
            read_publication(home)
        except CardError as error:
            faults.append(str(error))
        for path in sorted(home.glob("*.csv")):
            if path.stem not in paper.artefacts and path.name not in facts:
                faults.append(f"{path}: cells without a card; add {path.stem} to a chapter file.")
        for name in facts:
            if not (home / name).exists():
                faults.append(f"{home / 'paper.yaml'}: `facts` names {name}, which does not exist.")
    return faults


def _check_name(artefact: Artefact, paper: Paper) -> Iterator[str]:
    prefix, chapter = artefact.name.split("_")[:2]
    if artefact.card.kind not in _KINDS[prefix]:
        yield (
            f"{artefact.card_path}: {artefact.name} is of kind {artefact.card.kind!r}; an id with "
            f"{prefix!r} is of kind {' or '.join(_KINDS[prefix])}."
        )
    for tier, declared in artefact.card.tiers.items():
        if (declared.state == "drawing") != (artefact.card.kind == "drawing"):
            yield (
                f"{artefact.card_path}: {artefact.name} is of kind {artefact.card.kind!r}, but its "
                f"state in tier {tier} is {declared.state!r}; a drawing, and nothing else, has the "
                "state drawing."
            )
    # Tables of a paper are numbered consecutively; only a thesis puts the chapter into the number.
    if paper.kind == "thesis" and chapter != artefact.chapter:
        yield (
            f"{artefact.card_path}: {artefact.name} belongs to chapter {chapter}; move its card "
            f"to ch{chapter}.yaml."
        )


def _check_tables_beside(artefact: Artefact, paper: Paper) -> Iterator[str]:
    rules = [rule for tier in artefact.card.tiers.values() for rule in tier.speaks_if]
    for entry in (*artefact.card.conclusions, *rules):
        for name in sorted({part.beside for part in entry.holds_if if part.beside is not None}):
            owner, suffix = table_beside(name)
            card = paper.artefacts[owner].card if owner in paper.artefacts else None
            card = card if owner else artefact.card
            if card is None or (suffix and suffix not in card.beside):
                yield (
                    f"{artefact.id}: a predicate reads the table {name!r} beside, which no card "
                    f"of {paper.key} has; name it in `beside`."
                )


def _check_artefact(artefact: Artefact) -> Iterator[str]:
    card, cells = artefact.card, artefact.cells
    if cells.empty:
        runs = any(tier.state in RUNNABLE for tier in card.tiers.values())
        used = {
            "labels": card.labels,
            # Results for a passage or a figure without numbers are shown with it.
            "decimals": None if runs else card.decimals,
            "lacks": [tier.lacks for tier in card.tiers.values() if tier.lacks],
            "precision": card.precision,
            "tolerances": card.tolerances,
            "quoted": card.quoted,
            "derived": [entry for entry in card.derived if entry.cells],
            "not_run": card.not_run,
            # Claims of a figure without published numbers are tested on its reproduced values.
            "conclusions": None if runs else card.conclusions,
            "errata": [selector for erratum in card.errata for selector in erratum.cells],
        }
        for field, content in used.items():
            if content:
                yield (
                    f"{artefact.id}: `{field}` points at cells, but there is no "
                    f"{artefact.cells_path.name}; add the published cells or drop the field."
                )
        yield from _check_silence(artefact)
        return
    if card.readings in artefact.key_columns:
        yield (
            f"{artefact.id}: `readings` names {card.readings!r}, a published key column; name "
            "a column that only the reproduced table has."
        )
    yield from _check_decimals(artefact)
    yield from _check_tolerances(artefact)
    for field in (card.precision, card.tolerances, card.quoted, card.derived, card.not_run):
        for entry in field:
            artefact.select(entry.cells)
    for erratum in card.errata:
        explained = pd.Series(False, index=cells.index)
        for selector in erratum.cells:
            explained |= artefact.select(selector)
        for value in erratum.gives:
            if (artefact.select(value.cells) & ~explained).any():
                yield (
                    f"{artefact.id}: erratum {erratum.id} gives a value for {value.cells}, which "
                    "its `cells` do not name; name them there too."
                )
    strange = [column for column in card.labels if column not in artefact.key_columns]
    if strange:
        yield (
            f"{artefact.id}: `labels` names the column {strange[0]!r}; the key columns are "
            f"{artefact.key_columns}."
        )
    for tier in card.tiers.values():
        for column, names in tier.lacks.items():
            artefact.select({column: names})
        for column, names in tier.may_lack.items():
            # Tables of a chapter share a tier, and one of them may have fewer of its models.
            present = sorted(set(names) & set(cells.get(column, ())))
            artefact.select({column: present or names})
    yield from _check_silence(artefact)
    yield from _check_conclusions(artefact)
    if card.layout is not None:
        laid = [*card.layout.rows, *card.layout.columns]
        if sorted(laid) != sorted(artefact.key_columns):
            yield (
                f"{artefact.id}: `layout` names {laid}; it must name each key column once: "
                f"{artefact.key_columns}."
            )


def _check_tolerances(artefact: Artefact) -> Iterator[str]:
    """Check the tiers and cells of tolerances that are derived from seeds."""
    card = artefact.card
    for tolerance in card.tolerances:
        if not tolerance.from_spread:
            continue
        for tier in tolerance.from_spread:
            if tier not in card.tiers or card.tiers[tier].state != "rebuilt":
                yield (
                    f"{artefact.id}: `from_spread` of a tolerance names the tier {tier}, which "
                    "rebuilds nothing of it; name a reproduced tier that trains with several seeds."
                )
        if SEEDS not in card.beside:
            yield (
                f"{artefact.id}: a tolerance follows `from_spread`, but no table {SEEDS!r} is "
                "beside; name it in `beside`, and have the rule make it."
            )
        mask = artefact.select(tolerance.cells)
        for row in mask.to_numpy().nonzero()[0]:
            if not is_rounded(artefact.precisions[row]):
                yield (
                    f"{artefact.cells_path}, line {row + 2}: is a count, a label, a rank or a "
                    "text, for which no tolerance follows `from_spread`; leave it out of `cells`."
                )


def _check_silence(artefact: Artefact) -> Iterator[str]:
    known = [conclusion.id for conclusion in artefact.card.conclusions]
    for name, tier in artefact.card.tiers.items():
        silent = tier.not_testable
        if silent and not known:
            yield f"{artefact.id}: `not_testable` of tier {name} covers no claim; drop it."
        names_by_field = {
            "speaks_if": [name for rule in tier.speaks_if for name in rule.conclusions],
            "not_testable": (silent.conclusions or []) if silent else [],
        }
        for field, names in names_by_field.items():
            for name in sorted(set(names).difference(known)):
                yield f"{artefact.id}: `{field}` names {name!r}; its conclusions are {known}."
        for entry in artefact.card.conclusions if tier.state == "stand_in" else ():
            on_other_data = any("stand_in" in part.tested_on for part in entry.holds_if)
            if not on_other_data and tier.can_test(entry.id):
                yield (
                    f"{artefact.id}: no predicate of {entry.id} is tested on surrogate data; "
                    "name it in `not_testable` of the tier, with the reason."
                )


def _check_decimals(artefact: Artefact) -> Iterator[str]:
    declared, cells = artefact.card.decimals, artefact.cells
    metrics = sorted(set(cells["metric"])) if "metric" in cells else []
    for metric in declared:
        if metric != "all" and "metric" not in cells:
            yield (
                f"{artefact.id}: `decimals` names {metric!r}, but {artefact.cells_path} has no "
                "column `metric`; declare `all`, or name the column of measures `metric`."
            )
        elif metric != "all" and metric not in metrics:
            yield f"{artefact.id}: `decimals` names the metric {metric!r}; found are {metrics}."
    rebuilt = any(tier.state == "rebuilt" for tier in artefact.card.tiers.values())
    if rebuilt and "all" not in declared:
        for metric in metrics or ["all"]:
            if metric not in declared and not (declared and metric == "all"):
                yield (
                    f"{artefact.id}: `decimals` says nothing of the metric {metric!r}; "
                    "declare its digits, or text."
                )
    rows = zip(cells.to_dict("records"), artefact.precisions, strict=True)
    for line, (row, (digits, _)) in enumerate(rows, start=2):
        if digits == "text":
            continue
        value, where = row["value"], f"{artefact.cells_path}, line {line}"
        # A dash in place of a number.
        if row.get("marker") == "not_reported":
            continue
        if not is_number(value):
            # If nothing is declared, other cells of the metric must be numbers.
            if row.get("metric", "all") in declared or "all" in declared:
                yield (
                    f"{where}: {value!r} is not a number, but `decimals` declares {digits} digits."
                )
        elif decimals_shown(value) > digits:
            yield f"{where}: {value!r} shows more digits than the {digits} declared."


def _check_conclusions(artefact: Artefact) -> Iterator[str]:
    labels, cells = artefact.card.labels, artefact.unlabelled(artefact.cells)
    names = key_columns(cells)
    published = set(cells[names].itertuples(index=False, name=None))
    for conclusion in artefact.card.conclusions:
        where = f"{artefact.id}: conclusion {conclusion.id}"
        if conclusion.test and not any(part.tests_significance for part in conclusion.holds_if):
            yield (
                f"{where} names a `test`, but no predicate reads a p-value, an interval or a "
                "marker; add one, or drop `test`."
            )
        for predicate in conclusion.holds_if:
            # The contents of supplementary tables and of surrogate data are not known before a run.
            if predicate.beside is not None or predicate.tested_on == ["stand_in"]:
                continue
            labels_used = set(labels) & {
                column for part in (predicate.cells, *predicate.moves) for column in part
            }
            if labels_used:
                yield (
                    f"{where} names the label {sorted(labels_used)[0]!r}, which only describes "
                    f"other columns; name cells by {names}."
                )
                continue
            selected = cells[artefact.select(predicate.cells)][names].to_dict("records")
            for override in predicate.moves:
                unknown = [column for column in override if column not in names]
                # Applied to each selected cell, an override must lead to a published cell.
                lost = [
                    key for key in selected if tuple((key | override).values()) not in published
                ]
                if unknown:
                    yield f"{where} names the column {unknown[0]!r}; the cells have {names}."
                elif lost:
                    yield f"{where} compares with a cell that does not exist, {lost[0] | override}."
    twice = Counter(
        entry.id for part in (artefact.card.conclusions, artefact.card.errata) for entry in part
    )
    for name, count in twice.items():
        if count > 1:
            yield f"{artefact.id}: the id {name!r} occurs {count} times; give each its own."
