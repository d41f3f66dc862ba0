"""Verdicts on published cells: the first rule that applies decides.

Verdicts are two-sided: a score above the published one differs as much as one below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from everycell.engine.artefacts import Artefact, CellPrecision
from everycell.engine.cards import Erratum, State, Where
from everycell.engine.cell_classes import classify_cells
from everycell.engine.conclusions import FindTable
from everycell.engine.judging import judge
from everycell.engine.published_cells import CardError, Selector, as_number
from everycell.engine.reports import JudgedCell, Verdict
from everycell.engine.tiers import Tier
from everycell.engine.tolerances import AllowedDistance, tolerances_by_row


class _Ruling(NamedTuple):
    verdict: Verdict
    why: str
    #: Cause, if an erratum explains the cell.
    source: Where | None = None


@dataclass(frozen=True)
class _Cell:
    """A published cell with its value in a tier and its declarations in the record."""

    published: str
    #: Reproduced value, if any.
    value: Any
    precision: CellPrecision
    tolerance: AllowedDistance
    #: Ruling if the record declares the cell as quoted or not run.
    excluded: _Ruling | None
    #: How the cell follows from other published values, if it does.
    derived: str | None
    #: Correct value with the erratum that gives it.
    erratum: tuple[str, Erratum] | None
    #: State and requirements of the tier.
    state: State
    needs: str

    def compared_with(self, published: str, tolerance: float = 0.0) -> Verdict:
        digits, measured = self.precision
        return judge(published, self.value, digits, tolerance, measured=measured)

    @property
    def comparison(self) -> Verdict:
        """Comparison with the published value: equal, close or differs."""
        return self.compared_with(self.published, self.tolerance.within)


def _check_exclusion(cell: _Cell) -> _Ruling | None:
    return cell.excluded


def _check_value(cell: _Cell) -> _Ruling | None:
    if cell.state == "quoted":
        return _Ruling("quoted", cell.needs)
    return _Ruling("not_run", cell.needs) if cell.value is None else None


def _check_erratum(cell: _Cell) -> _Ruling | None:
    """Rule on cells with an erratum: only the exact correct value is explained."""
    consistent = ("equal", "close") if cell.derived else ("equal",)
    if cell.erratum is None or cell.comparison in consistent:
        return None
    correct_value, erratum = cell.erratum
    if cell.compared_with(correct_value) != "equal":
        return None
    unknown = erratum.where == "undecided"
    verdict: Verdict = "inconsistent" if cell.derived else "differs" if unknown else "explained"
    return _Ruling(verdict, "Cause unknown; candidate: " * unknown + erratum.finding, erratum.where)


def _compare(cell: _Cell) -> _Ruling:
    verdict, tolerance = cell.comparison, cell.tolerance
    has_cause = verdict == "close" or (verdict == "differs" and tolerance.derived)
    why = tolerance.because if has_cause else ""
    if cell.derived:
        why = f"{cell.derived} {why}".strip()
        verdict = "inconsistent" if verdict == "differs" else "consistent"
    return _Ruling(verdict, why)


_RULES: tuple[Callable[[_Cell], _Ruling | None], ...] = (
    _check_exclusion,
    _check_value,
    _check_erratum,
    _compare,
)


def judge_cells(
    artefact: Artefact,
    tier: Tier,
    values: Mapping[tuple[str, ...], Any],
    state: State,
    find_table: FindTable,
    reading: str,
) -> list[JudgedCell]:
    """Judge published cells against reproduced `values` by key (empty without a run)."""
    if artefact.cells.empty:
        return []
    keys = artefact.key_columns
    cells = zip(
        artefact.cells[keys].to_dict("records"),
        _with_declarations(artefact, tier, values, state, find_table),
        classify_cells(artefact, tier),
        strict=True,
    )
    judged_cells = []
    for key, cell, cell_class in cells:
        verdict, why, source = next(filter(None, (rule(cell) for rule in _RULES)))
        value = None if verdict in ("quoted", "not_run") else cell.value
        if value is not None:
            why = f"{reading} {why}".strip()
            number = as_number(value)
            value = str(value) if cell.precision.decimals == "text" or number is None else number
        judged_cells.append(
            JudgedCell(
                key={str(column): name for column, name in key.items()},
                printed=cell.published,
                rebuilt=value,
                verdict=verdict,
                why=why or None,
                source=source,
                kind=cell_class.kind,
                origin=cell_class.with_verdict(verdict).origin,
                flag=cell_class.flag,
                tolerance=None if value is None else cell.tolerance.within or None,
            )
        )
    return judged_cells


def _with_declarations(
    artefact: Artefact,
    tier: Tier,
    values: Mapping[tuple[str, ...], Any],
    state: State,
    find_table: FindTable,
) -> Iterator[_Cell]:
    """Published cells in their order, with their declarations in the record."""
    card, table, declared = artefact.card, artefact.cells, artefact.card.tiers[tier]

    def rows(selector: Selector) -> list[int]:
        return artefact.select(selector).to_numpy().nonzero()[0].tolist()

    keys = list(table[artefact.key_columns].itertuples(index=False, name=None))
    excluded: dict[int, _Ruling] = {}
    for entry in card.not_run:
        for row in rows(entry.cells) if entry.tier == tier else ():
            if keys[row] in values:
                raise CardError(
                    f"{artefact.card_path}: `not_run` of {artefact.name} selects the cell "
                    f"{' / '.join(keys[row])}, which tier {tier} reproduces; exclude it from "
                    "`not_run`."
                )
            excluded[row] = _Ruling("not_run", entry.needs)
    for quoted in card.quoted:
        for row in rows(quoted.cells) if tier in quoted.tiers else ():
            # A figure may repeat the published values from which it is drawn.
            repeats = quoted.is_input and str(values.get(keys[row])) == table["value"][row]
            if keys[row] in values and not repeats:
                raise CardError(
                    f"{artefact.card_path}: `quoted` of {artefact.name} selects the cell "
                    f"{' / '.join(keys[row])}, which tier {tier} reproduces; exclude it from "
                    "`quoted`, so that the value is compared."
                )
            excluded[row] = _Ruling("quoted", quoted.because)
    derived: dict[int, str] = {}
    for origin in card.derived:
        if tier in origin.tiers:
            derived |= dict.fromkeys(rows(origin.cells), origin.because)
    errata = {
        row: (gives.value, erratum)
        for erratum in card.errata
        for gives in erratum.gives
        for row in rows(gives.cells)
    }
    tolerances = tolerances_by_row(artefact, tier, find_table, values)
    for row, (key, content) in enumerate(zip(keys, table.to_dict("records"), strict=True)):
        value = values.get(key)
        may_lack = any(content[column] in names for column, names in declared.may_lack.items())
        if value is None and state == "rebuilt" and row not in excluded and not may_lack:
            raise CardError(
                f"{artefact.id}: the reproduced table lacks the published cell "
                f"{' / '.join(key)}; reproduce it, or add it to `not_run` for tier {tier} in "
                f"{artefact.card_path}."
            )
        yield _Cell(
            published=content["value"],
            value=value,
            precision=artefact.precisions[row],
            tolerance=tolerances.get(row, AllowedDistance()),
            excluded=excluded.get(row),
            derived=derived.get(row),
            erratum=errata.get(row),
            state=state,
            needs=declared.needs,
        )
