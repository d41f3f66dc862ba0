"""Lines of the scoreboards of cells and claims, from their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from everycell.verdicts.counts import NOT_RUN, OUTCOMES, UNTESTABLE, Counts
from everycell.verdicts.reports import VERDICTS, Verdict

#: Verdicts on cells that were not compared.
UNCOMPARED: tuple[Verdict, ...] = ("quoted", "not run")
_FROM_DATA = {"kind": "number", "origin": "data"}
_FROM_INPUTS = {"kind": "number", "origin": "published inputs"}
_PERTURBED = ("moves", "insensitive")
_UNMOVED = ("refused", "failed")
#: Headlines: name -> filter of ``cells.csv``. The cells of a line that begins with "of them" are
#: part of another line; the other lines add up to all published values.
HEADLINES: dict[str, dict[str, str | Sequence[str]]] = {
    "numbers computed from data": {**_FROM_DATA},
    "of them effectiveness measures": {**_FROM_DATA, "flag": "effectiveness"},
    "of them saturated p-values (published as 0.0 or 1.0)": {**_FROM_DATA, "flag": "saturated"},
    "of them with perturbed data": {**_FROM_DATA, "sensitivity": _PERTURBED},
    "of them move when their data change": {**_FROM_DATA, "sensitivity": "moves"},
    "of them do not move with the changes that were tried (insensitive)": {
        **_FROM_DATA,
        "sensitivity": "insensitive",
    },
    "of them with data for which the rule accepted no change (refused or failed)": {
        **_FROM_DATA,
        "sensitivity": _UNMOVED,
    },
    "of them not perturbed": {**_FROM_DATA, "sensitivity": "not perturbed"},
    "numbers computed from published inputs": {**_FROM_INPUTS},
    "of them with perturbed inputs": {**_FROM_INPUTS, "sensitivity": _PERTURBED},
    "of them move when these inputs change": {**_FROM_INPUTS, "sensitivity": "moves"},
    "of them do not move with the changes of these inputs that were tried (insensitive)": {
        **_FROM_INPUTS,
        "sensitivity": "insensitive",
    },
    "of them with inputs for which the rule accepted no change (refused or failed)": {
        **_FROM_INPUTS,
        "sensitivity": _UNMOVED,
    },
    "of them with inputs that were not perturbed": {
        **_FROM_INPUTS,
        "sensitivity": "not perturbed",
    },
    "categories computed from data": {"kind": "category", "origin": "data"},
    "categories computed from published inputs": {"kind": "category", "origin": "published inputs"},
    "identifiers computed from data": {"kind": "identifier", "origin": "data"},
    "values given here, or by a script without declared data": {"origin": "given"},
    "values computed from settings that the paper states, without data": {"origin": "constants"},
    "values derived from other published values": {"origin": "other cells"},
    "settings and values from other publications, quoted and not compared": {"origin": "quoted"},
    "values in tables run on surrogate data, not compared": {"origin": "surrogate data"},
    "values not run": {"origin": "none"},
}


class ClaimLine(NamedTuple):
    """A line of the scoreboard of claims: a filter of ``claims.csv``, and the column to count."""

    where: dict[str, Sequence[str]]
    column: Literal["outcome", "on_published", "on_reproduced"] = "outcome"


#: Lines of claims. The first two count all claims; lines that begin with "of them" are parts of
#: the second.
CLAIM_LINES: dict[str, ClaimLine] = {
    "on published values": ClaimLine({}, "on_published"),
    "on reproduced values": ClaimLine({}, "on_reproduced"),
    "of them on reproduced values against quoted ones": ClaimLine({"flag": ("quoted",)}),
    "of them only on values derived from other published values": ClaimLine(
        {"basis": ("other cells",)}
    ),
    "of them only on values computed from stated settings": ClaimLine({"basis": ("constants",)}),
    "of them only on values that were given": ClaimLine({"basis": ("given",)}),
    "of them only on quoted values": ClaimLine({"basis": ("quoted values",)}),
    "of them only on surrogate data": ClaimLine({"basis": ("surrogate data",)}),
    "of them not run": ClaimLine({"basis": (NOT_RUN,)}),
    "of them not testable here, each with the reason": ClaimLine({"basis": (UNTESTABLE,)}),
}


def headlines(counts: Counts) -> dict[str, Counter[Verdict]]:
    """Headlines with their verdicts, without empty ones."""
    # Projects without `published/sensitivity.csv` have no lines on it.
    is_measured = any(cell.sensitivity != "not perturbed" for cell in counts.cells)
    lines = {
        name: counts.verdicts(**where)
        for name, where in HEADLINES.items()
        if is_measured or "sensitivity" not in where
    }
    return {name: verdicts for name, verdicts in lines.items() if verdicts.total()}


def headline(name: str, verdicts: Mapping[Verdict, int]) -> str:
    """Text of a headline, with the verdicts if any values were compared."""
    line = f"{sum(verdicts.values()):,} {name}"
    compared = any(number for verdict, number in verdicts.items() if verdict not in UNCOMPARED)
    return f"{line}: {describe_verdicts(verdicts)}" if compared else line


def count_claims(counts: Counts, line: ClaimLine) -> Counter[tuple[str, str]]:
    """Number of claims of a line by outcome and, if contradicted, by cause."""
    outcomes: Counter[tuple[str, str]] = Counter()
    for claim, number in counts.claims.items():
        if all(getattr(claim, column) in values for column, values in line.where.items()):
            outcome = getattr(claim, line.column)
            outcomes[outcome, claim.cause if outcome == "contradicted" else ""] += number
    return outcomes


def claim_lines(counts: Counts) -> dict[str, str]:
    """Lines of the scoreboard of claims by the names of `CLAIM_LINES`, without empty ones."""
    lines = {}
    for name, line in CLAIM_LINES.items():
        outcomes = count_claims(counts, line)
        if not outcomes.total():
            continue
        numbered = f"{outcomes.total()} {'' if line.column == 'outcome' else 'claims '}{name}"
        described = _describe_outcomes(outcomes, line)
        lines[name] = f"{numbered}: {described}" if described else numbered
    return lines


def _describe_outcomes(outcomes: Mapping[tuple[str, str], int], line: ClaimLine) -> str:
    """Outcomes with their counts, and the number of contradictions with an unknown cause."""
    numbers: Counter[str] = Counter()
    for (outcome, _), number in outcomes.items():
        numbers[outcome] += number
    parts = []
    for outcome in OUTCOMES:
        unknown = outcomes.get((outcome, "unknown"), 0)
        if numbers[outcome]:
            has_cause = numbers["contradicted"] and "surrogate data" not in line.where.get(
                "basis", ()
            )
            cause = f" (of these {unknown} with unknown cause)" if has_cause and unknown else ""
            parts.append(f"{numbers[outcome]} {outcome}{cause * (outcome == 'contradicted')}")
    untested = {
        "on_published": "without a test",
        "on_reproduced": "not tested on reproduced values",
    }.get(line.column)
    if untested and numbers[""]:
        parts.append(f"{numbers['']} {untested}")
    return ", ".join(parts)


def as_query(where: Mapping[str, Any]) -> str:
    """Format a filter as an expression for `pandas.DataFrame.query`."""
    return " and ".join(
        f"{column} == {value!r}" if isinstance(value, str) else f"{column} in {list(value)}"
        for column, value in where.items()
    )


def describe_verdicts(verdicts: Mapping[Verdict, int]) -> str:
    """Format verdicts with their counts."""
    counts = ((verdict, verdicts.get(verdict)) for verdict in VERDICTS)
    return ", ".join(f"{n:,} {verdict}" for verdict, n in counts if n) or "none"
