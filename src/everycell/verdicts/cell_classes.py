"""Classes of published cells: their kind, and the origin of their reproduced value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from everycell.records.cells import is_number
from everycell.records.folders import Tier
from everycell.records.papers import Artefact
from everycell.records.sensitivity import State
from everycell.verdicts.reports import CellFlag, CellKind, CellOrigin, Verdict

#: Names of measures of retrieval effectiveness.
_EFFECTIVENESS = re.compile(
    r"(n?dcg|m?ap|m?rr|recall|success|err|bpref|rprec)(\(rel=\d+\))?(@\d+)?"
    r"|[pr](\(rel=\d+\))?@\d+",
    re.IGNORECASE,
)
#: Names of p-values; a capital `P` alone is precision.
_P_VALUE = re.compile(r"(.* )?(p|[Pp][_-]value)")


class CellClass(NamedTuple):
    """Kind, origin and flag of a cell, its verdict, and whether it moves with its data."""

    kind: CellKind
    origin: CellOrigin
    flag: CellFlag | None = None
    verdict: Verdict = "not run"
    sensitivity: State = "not perturbed"

    def with_verdict(self, verdict: Verdict) -> CellClass:
        """Set the verdict, and the origin if the verdict means that no value was computed."""
        uncomputed: dict[Verdict, CellOrigin] = {"quoted": "quoted", "not run": "none"}
        return self._replace(origin=uncomputed.get(verdict, self.origin), verdict=verdict)


def classify_cells(
    artefact: Artefact, tier: Tier | None, origins: Sequence[CellOrigin] | None = None
) -> list[CellClass]:
    """Classify the published cells, as computed in a tier, in the order of `cells`.

    `origins` are those of the values that the tier computes, from
    `everycell.verdicts.origins.origins_of_cells`; without them, no value is computed.
    """
    table, record = artefact.cells, artefact.record
    if table.empty:
        return []
    kinds: list[CellKind] = [
        "category" if digits == "text" and not is_number(value) else "number"
        for value, (digits, _) in zip(table["value"], artefact.precisions, strict=True)
    ]
    for kind, selectors in record.kinds.items():
        for selector in selectors:
            for row in artefact.select(selector).to_numpy().nonzero()[0]:
                kinds[row] = kind
    for row in artefact.empty_rows:
        kinds[row] = "empty"
    metrics = table["metric"] if "metric" in table else [""] * len(table)
    origins = ["none"] * len(table) if origins is None else origins
    return [
        CellClass(kind, origin, _flag(kind, metric, value))
        for kind, origin, metric, value in zip(kinds, origins, metrics, table["value"], strict=True)
    ]


def _flag(kind: CellKind, metric: str, value: str) -> CellFlag | None:
    if kind != "number":
        return None
    if _EFFECTIVENESS.fullmatch(metric):
        return "effectiveness"
    saturated = _P_VALUE.fullmatch(metric) and is_number(value) and float(value) in (0, 1)
    return "saturated" if saturated else None
