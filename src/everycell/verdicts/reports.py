"""Model of a verdict file: the report of an artefact in a tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import (
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from everycell.base.untrusted import parse_json, text_of
from everycell.base.validation import Strict, describe_fault
from everycell.records.cells import is_number
from everycell.records.folders import Tier
from everycell.records.papers import DASHES, NOT_REPORTED, Artefact
from everycell.records.tables import RUNNABLE, Cause, State

Verdict = Literal[
    "equal",
    "within tolerance",
    "too noisy to judge",
    "different",
    "explained",
    "consistent",
    "inconsistent",
    "quoted",
    "not run",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
CellKind = Literal["number", "category", "identifier", "check", "empty"]
#: Kinds that are no published values: a `check` of ours, and a dash for a value not reported.
UNCOUNTED: tuple[CellKind, ...] = ("check", "empty")
CellOrigin = Literal[
    "data",
    "published inputs",
    "given",
    "other cells",
    "constants",
    "quoted",
    "surrogate data",
    "none",
]
CellFlag = Literal["effectiveness", "saturated"]
Outcome = Literal[
    "supported",
    "contradicted",
    "inconclusive",
    "not testable",
    "not run",
    "without published numbers",
]
#: State, as shown, of a result whose compared values were all given, so that none was reproduced.
GIVEN_COMPARED = "given values compared"
#: Verdicts on a reproduced value.
ON_REPRODUCED: tuple[Verdict, ...] = (
    "equal",
    "within tolerance",
    "too noisy to judge",
    "different",
    "explained",
)
#: Verdicts on a value that differs from the published one.
UNEQUAL: tuple[Verdict, ...] = (
    "within tolerance",
    "too noisy to judge",
    "different",
    "explained",
    "inconsistent",
)
#: Displayed names of the causes of errata. Only the first is an error of the paper.
CAUSE_NAMES: dict[Cause, str] = {
    "published": "error in print",
    "copy": "transcription error of ours, not an error of the paper",
    "method": "method: a cause in the data or the code, not visible in the paper alone",
    "unknown": "cause unknown",
}
STATES: tuple[State, ...] = get_args(State)


#: Mark of a test that published values cannot decide.
UNDECIDED_MARK = "?"


class Markers(Strict):
    """Markers of a compared cell; empty if missing."""

    published: str
    reproduced: str

    @property
    def agree(self) -> bool:
        """Whether the marks are the same, or one of them is unknown or not reported."""
        if self.reproduced == UNDECIDED_MARK or self.published == NOT_REPORTED:
            return True
        return _plain_mark(self.published) == _plain_mark(self.reproduced)


def _plain_mark(mark: str) -> str:
    """Mark without the signs for no mark."""
    return "" if mark.strip() in DASHES else mark.strip()


class JudgedCell(Strict):
    """A published cell, its reproduced value (None if nothing is compared) and its verdict."""

    key: dict[str, str]
    published: str
    reproduced: float | str | None
    verdict: Verdict
    why: str | None
    #: Cause, if an erratum explains the cell.
    source: Cause | None = None
    kind: CellKind = "number"
    #: Origin of the reproduced value.
    origin: CellOrigin = "data"
    flag: CellFlag | None = None
    #: One unit of the last published digit, if the value is a measurement: the smallest tolerance.
    unit: float | None = None
    #: Distance from a stated cause within which the values count as within tolerance.
    tolerance: float | None = None
    #: Value that the cause of an erratum yields; equal to the published one if it is explained.
    yielded: float | str | None = None
    #: Set only if both tables have markers and at least one marker is not empty.
    markers: Markers | None = None

    @property
    def verdict_and_source(self) -> str:
        """``explained (copy)``, or the verdict alone."""
        cause = self.source if self.source != "unknown" else None
        return f"{self.verdict} ({cause})" if cause else self.verdict

    @property
    def difference(self) -> float | None:
        """Reproduced minus published value, if both are numbers."""
        if not isinstance(self.reproduced, float) or not is_number(self.published):
            return None
        return self.reproduced - float(self.published)

    @property
    def cause(self) -> str:
        """Why the values differ: the cause of an erratum, rounding, a tolerance, or unknown."""
        if self.verdict not in UNEQUAL:
            return ""
        if self.source:
            return self.source
        if self.verdict == "within tolerance":
            return "tolerance" if self.tolerance else "last digit"
        return "unknown"

    @property
    def difference_text(self) -> str:
        """Text on difference and tolerance if the values are unequal numbers; otherwise `why`."""
        if self.verdict not in UNEQUAL or self.difference is None:
            return self.why or ""
        allowed = f"; tolerance {self.tolerance:.4g}" if self.tolerance else ""
        if self.verdict == "within tolerance" and self.unit and not self.tolerance:
            allowed = f"; tolerance {self.unit:.4g}, one unit of the last digit"
        if self.yielded is not None:
            allowed += f"; the cause yields {self.yielded_text}"
        return f"difference {self.difference:+.4g}{allowed}. {self.why or ''}".strip()

    @property
    def yielded_text(self) -> str | None:
        """Value that the cause of an erratum yields, with six digits."""
        return f"{self.yielded:.6g}" if isinstance(self.yielded, float) else self.yielded

    @property
    def allowed(self) -> float | None:
        """Largest difference that is within tolerance; None for counts, labels and text."""
        return max(self.unit or 0, self.tolerance or 0) or None

    @model_serializer(mode="wrap")
    def _drop_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        for name in ("source", "markers", "flag", "unit", "tolerance", "yielded"):
            if content[name] is None:
                content.pop(name)
        return content


class JudgedClaim(Strict):
    """A claim of the record on the published and on the reproduced values."""

    id: str
    claim: str
    source: str
    test: str | None
    on_published: Outcome
    on_reproduced: Outcome
    #: On surrogate data that cannot test the claim: what its test gives there.
    excluded: Outcome | None = None
    detail: str


class AuditOutcome(Strict):
    """Finding of an erratum's audit in the published numbers."""

    name: str
    holds: bool
    detail: str


class JudgedErratum(Strict):
    """An erratum of the record, with the finding of its audit."""

    id: str
    cause: Cause
    finding: str
    evidence: str
    source: str | None
    audit: AuditOutcome | None


class Report(Strict):
    """Verdicts, outcomes of claims and errata of an artefact in a tier.

    `cells` is empty on surrogate data, since nothing is compared.
    """

    artefact: str
    tier: Tier
    state: State
    #: Origin of the reproduced values, from the files behind them; that of some cells may be less.
    origin: CellOrigin = "none"
    cells: list[JudgedCell]
    #: Number of cells by verdict, including verdicts without cells.
    verdicts: dict[Verdict, int]
    claims: list[JudgedClaim]
    errata: list[JudgedErratum]
    #: Names of the other files of the result.
    files: list[str]
    #: In the full tier: how the configured data differ from the paper's. If they do, the run is on
    #: surrogate data with this name.
    foreign: str = ""
    #: In the full tier: notes on corpora that are not configured and on data without facts.
    notes: list[str] = []
    #: Hash of the report and its sources (`everycell.verdicts.results.seal_of`).
    seal: str = ""

    @property
    def shown_state(self) -> str:
        """State as users read it: given values are compared, but not reproduced."""
        origins = {cell.origin for cell in self.cells if cell.verdict in ON_REPRODUCED}
        return GIVEN_COMPARED if origins == {"given"} else self.state


@dataclass(frozen=True)
class Result:
    """Report of an artefact in a tier, with the faults of its files."""

    artefact: Artefact
    tier: Tier
    report: Report
    faults: tuple[str, ...] = ()

    @property
    def is_run(self) -> bool:
        """Whether files of a result exist, valid or not."""
        return bool(self.faults) or self.report.state in RUNNABLE


def reproduces_no_cell(report: Report) -> bool:
    """Whether a reproduced result is based only on published values, or on no file at all.

    This is the case if all of its cells are derived or quoted, or if it has no published cells and
    the files behind it allow no better origin.
    """
    if report.state != "reproduced":
        return False
    if not report.cells:
        return report.origin not in ("data", "published inputs")
    return not any(cell.verdict in ON_REPRODUCED for cell in report.cells)


def read_report(path: Path) -> Report:
    """Read and validate a verdict file."""
    try:
        return Report.model_validate(parse_json(text_of(path), strict=True))
    except ValidationError as error:
        raise ValueError(describe_fault(Report, error).rstrip(".")) from None


def explained_by_source(cells: Iterable[JudgedCell]) -> dict[Cause, int]:
    """Number of explained cells by cause, including causes without cells."""
    counts = Counter(cell.source for cell in cells if cell.verdict == "explained")
    return {cause: counts[cause] for cause in CAUSE_NAMES if cause != "unknown"}


def format_counts(verdicts: Mapping[Verdict, int], explained: Mapping[Cause, int]) -> str:
    """Format the verdicts that occur with their counts."""
    parts = []
    for verdict, number in verdicts.items():
        if number:
            parts.append(f"{number} {verdict}")
        if number and verdict == "explained":
            causes = ", ".join(f"{count} {cause}" for cause, count in explained.items() if count)
            parts[-1] += f" ({causes})"
    return ", ".join(parts)
