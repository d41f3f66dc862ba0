"""Report on an artefact in a tier: verdicts on cells, outcomes of claims, and errata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from everycell.records.cells import RecordError
from everycell.records.claims import Kind
from everycell.records.folders import Tier
from everycell.records.papers import Artefact
from everycell.records.tables import RUNNABLE, DeclaredTier, State
from everycell.verdicts.audits import Audit, finding_of
from everycell.verdicts.cell_verdicts import judge_cells
from everycell.verdicts.claim_basis import bases_of_claims
from everycell.verdicts.claims import (
    Decision,
    FindTable,
    Outcome,
    decide_on_published,
    evaluate,
    no_table,
)
from everycell.verdicts.origins import Sources, origin_of, origins_of_cells
from everycell.verdicts.readings import select_reading
from everycell.verdicts.reports import (
    UNCOUNTED,
    VERDICTS,
    AuditOutcome,
    CellOrigin,
    JudgedCell,
    JudgedClaim,
    JudgedErratum,
    Markers,
    Report,
    Verdict,
)

#: Audits of a chapter that has none.
NO_AUDITS: Mapping[str, Audit] = MappingProxyType({})


def read_reproduced(artefact: Artefact, table: pd.DataFrame) -> dict[tuple[str, ...], Any]:
    """Reproduced values by key, checked against the published cells."""
    keys = artefact.key_columns
    missing = [column for column in [*keys, "value"] if column not in table]
    if missing:
        raise RecordError(
            f"{artefact.id}: the reproduced table lacks the column {missing[0]!r}; it needs "
            f"{[*keys, 'value']}."
        )
    reproduced = {
        tuple(str(part) for part in row[:-1]): row[-1]
        for row in table[[*keys, "value"]].itertuples(index=False)
    }
    if len(reproduced) < len(table):
        duplicate = table.loc[table.duplicated(keys), keys].iloc[0]
        raise RecordError(
            f"{artefact.id}: the reproduced table has the cell {' / '.join(map(str, duplicate))} "
            "twice; write it once."
        )
    published = set(artefact.cells[keys].itertuples(index=False, name=None))
    unknown = [key for key in reproduced if key not in published]
    if unknown:
        raise RecordError(
            f"{artefact.id}: the rule produced the cell ({', '.join(unknown[0])}), which "
            f"{artefact.name}.csv does not have. Use the keys of the published table, or write the "
            "value to a supplementary table."
        )
    return reproduced


def report(
    artefact: Artefact,
    tier: Tier,
    reproduced: pd.DataFrame | None = None,
    *,
    files: list[str] | None = None,
    audits: Mapping[str, Audit] = NO_AUDITS,
    find_table: FindTable = no_table,
    foreign: str = "",
    sources: Sources | None = None,
) -> Report:
    """Compute verdicts, outcomes of claims and errata of an artefact in a tier.

    `sources` are the files behind the reproduced values, from which their origin follows; without
    them, it is data, or what the record declares.
    """
    if tier not in artefact.record.tiers:
        raise RecordError(
            f"{artefact.id} has no tier {tier!r}; its record declares "
            f"{', '.join(artefact.record.tiers)}."
        )
    if foreign:
        artefact = _on_other_data(artefact, tier, foreign)
    declared = artefact.record.tiers[tier]
    state = declared.state
    if reproduced is None and state in RUNNABLE:
        state = "not run"
    values: dict[tuple[str, ...], Any] = {}
    markers: dict[tuple[str, ...], str] = {}
    reading = ""
    if reproduced is not None:
        reproduced, find_table, reading = select_reading(
            artefact, tier, reproduced, find_table, surrogate=state == "surrogate"
        )
    if reproduced is not None and state == "reproduced" and not artefact.cells.empty:
        values = read_reproduced(artefact, reproduced)
        if "marker" in reproduced:
            markers = dict(zip(values, reproduced["marker"].fillna(""), strict=True))
        columns = [column for column in ("value", "marker") if column in reproduced]
        reproduced = reproduced[[*artefact.key_columns, *columns]]
    origin: CellOrigin = "none"
    origins: list[CellOrigin] = ["none"] * len(artefact.cells)
    if reproduced is not None and state == "reproduced":
        origin = "data" if sources is None else origin_of(artefact, tier, sources)
        origins = origins_of_cells(artefact, tier, origin, sources)
    cells = (
        []
        if declared.state == "surrogate"
        else judge_cells(artefact, tier, values, state, find_table, reading, origins)
    )
    cells = _with_markers(artefact, cells, markers)
    counts = Counter(cell.verdict for cell in cells if cell.kind not in UNCOUNTED)
    return Report(
        artefact=artefact.id,
        tier=tier,
        state=state,
        origin=origin,
        cells=cells,
        verdicts={verdict: counts[verdict] for verdict in VERDICTS},
        claims=_claims(artefact, tier, state, reproduced, cells, origin, find_table),
        errata=judge_errata(artefact, audits),
        files=sorted(files or []),
        foreign=foreign,
    )


def _on_other_data(artefact: Artefact, tier: Tier, name: str) -> Artefact:
    """Copy of an artefact that declares a tier as run on the named surrogate data."""
    record = artefact.record
    declared = DeclaredTier(state="surrogate", needs=record.tiers[tier].needs, name=name)
    record = record.model_copy(update={"tiers": {**record.tiers, tier: declared}})
    return artefact.model_copy(update={"record": record})


def _with_markers(
    artefact: Artefact, cells: list[JudgedCell], reproduced: Mapping[tuple, str]
) -> list[JudgedCell]:
    if not reproduced or "marker" not in artefact.cells:
        return cells
    cells_with_markers = []
    for cell, published in zip(cells, artefact.cells["marker"], strict=True):
        markers = Markers(
            published=published, reproduced=reproduced.get(tuple(cell.key.values()), "")
        )
        if cell.reproduced is not None and (markers.published or markers.reproduced):
            cell = cell.model_copy(update={"markers": markers} | _ruling_on_marks(cell, markers))
        cells_with_markers.append(cell)
    return cells_with_markers


def _ruling_on_marks(cell: JudgedCell, markers: Markers) -> dict[str, Any]:
    """Verdict on a cell whose value agrees but whose mark differs; empty if the mark agrees.

    A value that is too noisy to judge stays so, as its mark is as noisy, but both marks are named.
    """
    unequal: dict[Verdict, Verdict] = {
        "equal": "different",
        "within tolerance": "different",
        "too noisy to judge": "too noisy to judge",
        "consistent": "inconsistent",
    }
    if cell.verdict not in unequal or markers.agree:
        return {}
    published_mark, own_mark = (
        f"the mark {mark}" if mark else "no mark"
        for mark in (markers.published, markers.reproduced)
    )
    why = f"The published value has {published_mark}, the reproduced one has {own_mark}."
    return {"verdict": unequal[cell.verdict], "why": f"{why} {cell.why or ''}".strip()}


def _claims(
    artefact: Artefact,
    tier: Tier,
    state: State,
    reproduced: pd.DataFrame | None,
    cells: list[JudgedCell],
    origin: CellOrigin,
    find_table: FindTable,
) -> list[JudgedClaim]:
    if not artefact.record.claims:
        return []
    declared = artefact.record.tiers[tier]
    kind: Kind = "surrogate" if declared.state == "surrogate" else "reproduced"
    published = None if artefact.cells.empty else artefact.drop_labels(artefact.cells)
    if reproduced is not None:
        reproduced = artefact.drop_labels(reproduced)
        for column, names in declared.lacks.items():
            present = sorted(set(names).intersection(reproduced.get(column, ())))
            if present:
                raise RecordError(
                    f"{artefact.records_path}: `lacks` of {artefact.name} has {column} = "
                    f"{present[0]!r}, but the surrogate data have this value; remove it from "
                    "`lacks`."
                )
        if kind == "reproduced" and published is not None:
            # The reproduced table has the published value of each quoted cell.
            quoted = [cell.verdict == "quoted" for cell in cells]
            reproduced = pd.concat([reproduced, published[quoted]])
    judged_claims = []
    bases = bases_of_claims(artefact, state, cells, origin)
    for claim, basis, on_published in zip(
        artefact.record.claims, bases, decide_on_published(artefact), strict=True
    ):
        excluded: Outcome | None = None
        if reproduced is None or not basis.name:
            on_reproduced = Decision("not run", f"published: {on_published.detail}")
        else:
            on_reproduced = evaluate(
                claim,
                reproduced,
                published if kind == "reproduced" else None,
                kind=kind,
                lacks=declared.lacks,
                find_table=find_table,
                decisive_if=declared.decisive_if,
            )
            exclusion = None if declared.can_test(claim.id) else declared.not_testable
            # A reason that applies to the complete table takes precedence.
            if on_reproduced.outcome != "not testable" and exclusion is not None:
                excluded = on_reproduced.outcome
                on_reproduced = Decision("not testable", exclusion.because)
            if basis.with_quoted:
                detail = f"{on_reproduced.detail}; compared with quoted values"
                on_reproduced = Decision(on_reproduced.outcome, detail)
        judged_claims.append(
            JudgedClaim(
                id=claim.id,
                claim=claim.claim,
                source=claim.source,
                test=claim.test,
                on_published=on_published.outcome,
                on_reproduced=on_reproduced.outcome,
                excluded=excluded,
                detail=on_reproduced.detail,
            )
        )
    return judged_claims


def judge_errata(artefact: Artefact, audits: Mapping[str, Audit]) -> list[JudgedErratum]:
    """Errata of a record with the findings of their audits."""
    errata = []
    for erratum in artefact.record.errata:
        finding = finding_of(erratum, artefact, audits)
        audit = None
        if erratum.audit is not None and finding is not None:
            audit = AuditOutcome(name=erratum.audit, holds=finding.holds, detail=finding.detail)
        fields = erratum.model_dump(include={"id", "cause", "finding", "evidence", "source"})
        errata.append(JudgedErratum(**fields, audit=audit))
    return errata
