"""Verdicts on published cells.

Verdicts are two-sided: a score above the published one differs as much as one below it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from everycell.records.cells import RecordError, Selector, as_number, is_number
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, CellPrecision
from everycell.records.spellings import is_missing, is_no_value, meets_bound, split_bound
from everycell.records.tables import Cause, Erratum, State, Yields
from everycell.verdicts.cells import (
    DERIVED,
    GIVEN,
    AllowedDistance,
    classify_cells,
    is_rounded,
    tolerances_by_row,
)
from everycell.verdicts.claims import FindTable
from everycell.verdicts.comparisons import Cells
from everycell.verdicts.reports import CellOrigin, JudgedCell, Verdict

#: Margin for floating-point errors, in units of the last published digit.
_SLACK = 1e-6


def judge(
    published: str,
    reproduced: object,
    decimals: int | Literal["text"],
    tolerance: float = 0.0,
    *,
    measured: bool = False,
) -> Literal["equal", "within tolerance", "different"]:
    """Compare a published value with a reproduced one; a number equals the bound that it meets."""
    sign, limit = split_bound(published)
    if sign and as_number(reproduced) is not None:
        return "equal" if meets_bound(published, float(str(reproduced))) else "different"
    if sign:
        # The same bound may be spelled "< .001" and "<0.001".
        other_sign, other_limit = split_bound(str(reproduced))
        is_same = sign == other_sign and float(limit) == float(other_limit)
        return "equal" if is_same else "different"
    if decimals == "text" or not is_number(published):
        same = str(reproduced).strip() == published.strip()
        return "equal" if same else "different"
    value = as_number(reproduced)
    if value is None:
        return "different"
    distance = abs(value - float(published))
    unit = 10.0**-decimals
    is_rounded = decimals > 0 or measured
    if distance <= unit * (0.5 * is_rounded + _SLACK):
        return "equal"
    # Neighbouring floats near 0.9 differ by more than one unit of the 16th decimal.
    slack = unit * _SLACK + math.ulp(float(published))
    if distance <= max(unit * is_rounded, tolerance) + slack:
        return "within tolerance"
    return "different"


class _Ruling(NamedTuple):
    verdict: Verdict
    why: str
    #: Cause, if an erratum explains the cell.
    source: Cause | None = None


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
    #: Erratum about the cell, and the value that its cause yields, if it yields one.
    erratum: tuple[Erratum, Any] | None
    #: State and requirements of the tier.
    state: State
    needs: str

    def compare(self, value: Any, tolerance: float = 0.0) -> Verdict:
        """Compare a value with the published one: equal, within tolerance or different."""
        digits, measured = self.precision
        return judge(self.published, value, digits, tolerance, measured=measured)

    @property
    def unit(self) -> float | None:
        """One unit of the last published digit of a measurement."""
        if not is_rounded(self.precision) or self.precision.decimals == "text":
            return None
        return 10.0**-self.precision.decimals


def _rule_on(cell: _Cell) -> _Ruling:
    """Rule on a cell: the first reason that applies decides."""
    if cell.excluded is not None:
        return cell.excluded
    if cell.state == "quoted":
        return _Ruling("quoted", cell.needs)
    if cell.value is None:
        return _Ruling("not run", cell.needs)
    compared = _compare(cell)
    return _explain(cell, compared.verdict) or compared


def _explain(cell: _Cell, judged: Verdict) -> _Ruling | None:
    """Rule on unequal cells with an erratum: only what yields the published value explains it."""
    if cell.erratum is None or judged in ("equal", "consistent"):
        return None
    erratum, yielded = cell.erratum
    known = erratum.cause != "unknown"
    if cell.derived:
        cause = "" if known else "Cause unknown; candidate: "
        return _Ruling("inconsistent", cause + erratum.finding, erratum.cause)
    if known and yielded is not None and cell.compare(yielded) == "equal":
        return _Ruling("explained", erratum.finding, erratum.cause)
    if judged != "different":
        return None
    return _Ruling("different", f"Cause unknown; candidate: {erratum.finding}", "unknown")


def _compare(cell: _Cell) -> _Ruling:
    verdict, tolerance = cell.compare(cell.value), cell.tolerance
    why = tolerance.because if verdict == "within tolerance" or tolerance.derived else ""
    if verdict == "different" and cell.compare(cell.value, tolerance.within) == "within tolerance":
        verdict, why = "within tolerance", tolerance.because
        if tolerance.one_sided:
            verdict, why = "different", f"{tolerance.one_sided} {tolerance.because}"
        elif tolerance.within > tolerance.limit * (1 + 1e-9):
            verdict = "too noisy to judge"
            why = f"The tolerance exceeds {tolerance.limited_by}. {tolerance.because}"
    if verdict == "equal":
        why = ""
    if cell.derived:
        why = f"{cell.derived} {why}".strip()
        derived: dict[Verdict, Verdict] = {
            "different": "inconsistent",
            "too noisy to judge": "too noisy to judge",
        }
        verdict = derived.get(verdict, "consistent")
    return _Ruling(verdict, why)


def judge_cells(
    artefact: Artefact,
    tier: Tier,
    values: Mapping[tuple[str, ...], Any],
    state: State,
    find_table: FindTable,
    reading: str,
    origins: Sequence[CellOrigin],
) -> list[JudgedCell]:
    """Judge published cells against reproduced `values` by key (empty without a run)."""
    if artefact.cells.empty:
        return []
    keys = artefact.key_columns
    cells = zip(
        artefact.cells[keys].to_dict("records"),
        _with_declarations(artefact, tier, values, state, find_table, origins),
        classify_cells(artefact, origins),
        strict=True,
    )
    judged_cells = []
    for key, cell, cell_class in cells:
        verdict, why, source = _rule_on(cell)
        value = None if verdict in ("quoted", "not run") else cell.value
        yielded = None
        if value is not None:
            why = f"{reading} {why}".strip()
            value = _number_or_text(value, cell.precision)
            if source is not None and cell.erratum is not None and cell.erratum[1] is not None:
                yielded = _number_or_text(cell.erratum[1], cell.precision)
        judged_cells.append(
            JudgedCell(
                key={str(column): name for column, name in key.items()},
                published=cell.published,
                reproduced=value,
                verdict=verdict,
                why=why or None,
                source=source,
                kind=cell_class.kind,
                origin=cell_class.with_verdict(verdict).origin,
                flag=cell_class.flag,
                unit=None if value is None else cell.unit,
                tolerance=None if value is None else cell.tolerance.within or None,
                yielded=yielded,
            )
        )
    return judged_cells


def _is_no_value(text: str) -> bool:
    return not text.strip() or is_missing(text) or is_no_value(text)


def _number_or_text(value: Any, precision: CellPrecision) -> float | str:
    number = as_number(value)
    return str(value) if precision.decimals == "text" or number is None else number


def _yielded_value(
    artefact: Artefact,
    entry: Yields,
    key: Mapping[str, str],
    values: Mapping[tuple[str, ...], Any],
    find_table: FindTable,
) -> Any:
    """Value that the cause of an erratum yields for a cell; None if it was not computed."""
    where = f"{artefact.id}: `yields` of the cell {' / '.join(key.values())}"
    if entry.supplement is None:
        return values.get(tuple({**key, **entry.at}.values()))
    table = find_table(entry.supplement)
    if table is None:
        return None
    cells = Cells.of(table, list(table.columns)[: list(table.columns).index("value")])
    selector = {column: entry.at.get(column, key.get(column)) for column in cells.keys}
    matches = cells.select(
        {c: name for c, name in selector.items() if name is not None}, cells.names
    )
    if len(matches) != 1 or not entry.at.keys() <= set(cells.keys):
        raise RecordError(
            f"{where} selects {len(matches)} cells of the table {entry.supplement!r}; it must "
            f"select one, by its columns {cells.keys}."
        )
    return cells.read(matches[0])


def _with_declarations(
    artefact: Artefact,
    tier: Tier,
    values: Mapping[tuple[str, ...], Any],
    state: State,
    find_table: FindTable,
    origins: Sequence[CellOrigin],
) -> Iterator[_Cell]:
    """Published cells in their order, with their declarations in the record."""
    record, table, declared = artefact.record, artefact.cells, artefact.record.tiers[tier]

    def rows(selector: Selector) -> list[int]:
        return artefact.select(selector).to_numpy().nonzero()[0].tolist()

    keys = list(table[artefact.key_columns].itertuples(index=False, name=None))
    excluded: dict[int, _Ruling] = {}
    # Results of tools have words such as NaN in place of a number.
    for row, origin in enumerate(origins):
        text = str(values.get(keys[row], 0)) if origin == GIVEN else "0"
        if is_number(split_bound(table["value"][row])[1]) and _is_no_value(text):
            excluded[row] = _Ruling("not run", f"The given value is {text.strip() or 'empty'}.")
    absent = {keys[row] for row in excluded}
    values = {key: value for key, value in values.items() if key not in absent}
    for entry in record.not_run:
        for row in rows(entry.cells) if entry.tier == tier else ():
            if keys[row] in values:
                raise RecordError(
                    f"{artefact.records_path}: `not_run` of {artefact.name} selects the cell "
                    f"{' / '.join(keys[row])}, which tier {tier} reproduces; exclude it from "
                    "`not_run`."
                )
            excluded[row] = _Ruling("not run", entry.needs)
    for quoted in record.quoted:
        for row in rows(quoted.cells) if tier in quoted.tiers else ():
            # A figure may repeat the published values from which it is drawn.
            repeats = quoted.is_input and str(values.get(keys[row])) == table["value"][row]
            if keys[row] in values and not repeats:
                raise RecordError(
                    f"{artefact.records_path}: `quoted` of {artefact.name} selects the cell "
                    f"{' / '.join(keys[row])}, which tier {tier} reproduces; exclude it from "
                    "`quoted`, so that the value is compared."
                )
            excluded[row] = _Ruling("quoted", quoted.because)
    derived = {
        row: "Computed from other published values."
        for row, origin in enumerate(origins)
        if origin == DERIVED
    }
    for origin in record.derived:
        if tier in origin.tiers:
            derived |= dict.fromkeys(rows(origin.cells), origin.because)
    for row in artefact.empty_rows:
        excluded[row] = _Ruling("quoted", "The paper reports no value.")
    errata: dict[int, tuple[Erratum, Any]] = {}
    for erratum in record.errata if values else ():
        for selector in erratum.cells:
            for row in rows(selector):
                errata.setdefault(row, (erratum, None))
        for entry in erratum.yields:
            for row in rows(entry.cells):
                key = dict(zip(artefact.key_columns, keys[row], strict=True))
                yielded = _yielded_value(artefact, entry, key, values, find_table)
                errata[row] = (erratum, yielded)
    tolerances = tolerances_by_row(artefact, tier, find_table, values)
    for row, (key, content) in enumerate(zip(keys, table.to_dict("records"), strict=True)):
        value = values.get(key)
        may_lack = any(content[column] in names for column, names in declared.may_lack.items())
        if value is None and state == "reproduced" and row not in excluded and not may_lack:
            raise RecordError(
                f"{artefact.id}: the reproduced table lacks the published cell "
                f"{' / '.join(key)}; reproduce it, or add it to `not_run` for tier {tier} in "
                f"{artefact.records_path}."
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
