"""Verdict of each printed cell against its rebuilt value.

A verdict is two-sided: a higher score than the printed one is not better, it differs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from everycell import audits
from everycell.artefacts import (
    RUNNABLE,
    Artefact,
    CardError,
    Tier,
    is_number,
)
from everycell.conclusions import evaluate

Verdict = Literal["equal", "close", "differs", "misprint", "quoted", "not_run"]
VERDICTS: tuple[Verdict, ...] = ("equal", "close", "differs", "misprint", "quoted", "not_run")
OUTCOMES = {"hold": "holds", "fail": "fails", "undecided": "undecided"}
#: Slack for the binary form of a decimal fraction, in units of the last printed digit.
_SLACK = 1e-6


def judge(
    printed: str, rebuilt: object, decimals: int | Literal["text"], tolerance: float = 0.0
) -> Literal["equal", "close", "differs"]:
    """Compare a printed value with a rebuilt one.

    Parameters
    ----------
    printed
        The value as it stands in the paper.
    rebuilt
        The rebuilt value, unrounded.
    decimals
        Declared decimals of the column, or "text" to compare strings.
    tolerance
        Distance within which the cell is close, where the card derives one.

    Returns
    -------
    {"equal", "close", "differs"}
        `equal`: the rebuilt value rounds to the printed one (an exact half may go either way).
        `close`: within one unit of the last declared digit, or within the tolerance.

    Examples
    --------
    >>> judge("0.014", 0.0139, 3), judge("0.0", 0.0004, 3), judge("0.0", 0.0006, 3)
    ('equal', 'equal', 'close')
    >>> judge("0.014", 0.016, 3), judge("0.4493", 0.44922, 4), judge("S", "M", "text")
    ('differs', 'close', 'differs')
    """
    if decimals == "text" or not is_number(printed):
        same = str(rebuilt).strip() == printed.strip()
        return "equal" if same else "differs"
    try:
        value = float(rebuilt)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "differs"
    distance = abs(value - float(printed))
    if math.isnan(distance):
        return "differs"
    unit = 10.0**-decimals
    if distance <= unit * (0.5 + _SLACK):
        return "equal"
    if distance <= max(unit * (1 + _SLACK), tolerance):
        return "close"
    return "differs"


def read_rebuilt(artefact: Artefact, table: pd.DataFrame) -> dict[tuple[str, ...], Any]:
    """Rebuilt values by key, checked against the printed cells.

    Raises
    ------
    CardError
        A key column is missing, a key stands twice, or a cell is rebuilt that is not printed.
    """
    keys = artefact.key_columns
    missing = [column for column in [*keys, "value"] if column not in table]
    if missing:
        raise CardError(
            f"{artefact.id}: the rebuilt table lacks the column {missing[0]!r}; it needs "
            f"{[*keys, 'value']}."
        )
    rebuilt = {
        tuple(str(part) for part in row[:-1]): row[-1]
        for row in table[[*keys, "value"]].itertuples(index=False)
    }
    if len(rebuilt) < len(table):
        raise CardError(f"{artefact.id}: the rebuilt table has a cell twice; each stands once.")
    printed = set(artefact.cells[keys].itertuples(index=False, name=None))
    unknown = [key for key in rebuilt if key not in printed]
    if unknown:
        raise CardError(
            f"{artefact.id}: rebuilt the cell {' / '.join(unknown[0])}, which is not printed; "
            "give it the printed key, or write it to a table beside."
        )
    return rebuilt


def report(
    artefact: Artefact,
    tier: Tier,
    rebuilt: pd.DataFrame | None = None,
    *,
    files: list[str] | None = None,
) -> dict[str, Any]:
    """Verdicts, closeness, conclusions and errata of an artefact in a tier.

    Parameters
    ----------
    artefact
        Card and printed cells.
    tier
        Tier that the values come from.
    rebuilt
        Tidy table with the artefact's key columns and `value`; None where nothing was run.
    files
        Names of the files beside the verdicts, to list.

    Returns
    -------
    dict
        JSON-ready: artefact, tier, state, cells, verdicts (counts), rmse and kendall_tau (by
        metric), conclusions, errata, files.
    """
    declared = artefact.card.tiers[tier]
    state = declared.state
    if rebuilt is None and state in RUNNABLE:
        state = "not_run"
    printed_cells = artefact.cells
    compared = rebuilt is not None and state == "rebuilt" and not printed_cells.empty
    values = read_rebuilt(artefact, rebuilt) if compared and rebuilt is not None else {}
    cells = [] if state == "stand_in" else _cells(artefact, tier, values, declared.needs, state)
    counts = Counter(cell["verdict"] for cell in cells)
    return {
        "artefact": artefact.id,
        "tier": tier,
        "state": state,
        "cells": cells,
        "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
        **_closeness(artefact, cells),
        "conclusions": _conclusions(artefact, rebuilt),
        "errata": _errata(artefact),
        "files": sorted(files or []),
    }


def _cells(
    artefact: Artefact, tier: Tier, values: Mapping[tuple, Any], needs: str, state: str
) -> list[dict[str, Any]]:
    table = artefact.cells
    if table.empty:
        return []
    card, keys = artefact.card, artefact.key_columns
    why: dict[int, tuple[Verdict, str]] = {}
    for entry in card.not_run:
        if entry.tier == tier:
            for index in table.index[artefact.select(entry.cells)]:
                why[index] = ("not_run", entry.needs)
    for quoted in card.quoted:
        for index in table.index[artefact.select(quoted.cells)]:
            why[index] = ("quoted", quoted.because)
    tolerances: dict[int, tuple[float, str]] = {}
    for tolerance in card.tolerances:
        for index in table.index[artefact.select(tolerance.cells)]:
            tolerances[index] = (tolerance.within, tolerance.because)
    errata: dict[int, str] = {}
    for erratum in card.errata:
        for selector in erratum.cells:
            for index in table.index[artefact.select(selector)]:
                errata[index] = f"{erratum.where}: {erratum.finding}"
    cells = []
    for index, row in table.iterrows():
        key = {column: row[column] for column in keys}
        rebuilt = values.get(tuple(key.values()))
        verdict: Verdict
        if index in why:
            verdict, reason = why[index]
        elif state == "quoted":
            verdict, reason = "quoted", needs
        elif rebuilt is None:
            verdict, reason = "not_run", needs
        else:
            within, cause = tolerances.get(index, (0.0, ""))
            verdict = judge(
                row["value"], rebuilt, artefact.decimals(row.get("metric", "all")), within
            )
            reason = cause if verdict == "close" else ""
            if verdict == "differs" and index in errata:
                verdict, reason = "misprint", errata[index]
        cells.append(
            {
                "key": key,
                "printed": row["value"],
                "rebuilt": None if verdict in ("quoted", "not_run") else _plain(rebuilt),
                "verdict": verdict,
                "why": reason or None,
            }
        )
    return cells


def _plain(value: Any) -> float | str:
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def _closeness(artefact: Artefact, cells: list[dict[str, Any]]) -> dict[str, Any]:
    """RMSE and Kendall's tau-b by metric, over the compared cells whose print is a number."""
    by_metric: dict[str, list[tuple[float, float]]] = {}
    for cell in cells:
        if isinstance(cell["rebuilt"], float) and is_number(cell["printed"]):
            pair = (float(cell["printed"]), cell["rebuilt"])
            by_metric.setdefault(cell["key"].get("metric", "value"), []).append(pair)
    rmse: dict[str, float] = {}
    tau: dict[str, float] = {}
    for metric, pairs in by_metric.items():
        rmse[metric] = math.sqrt(math.fsum((p - r) ** 2 for p, r in pairs) / len(pairs))
        # Rounded as printed, so that the digits a print drops make no ties of their own.
        digits = artefact.decimals(metric)
        rounded = [(p, round(r, digits) if digits != "text" else r) for p, r in pairs]
        correlation = pd.DataFrame(rounded).corr(method="kendall").iloc[0, 1]
        if not math.isnan(correlation):
            tau[metric] = float(correlation)
    return {"rmse": rmse, "kendall_tau": tau}


def _conclusions(artefact: Artefact, rebuilt: pd.DataFrame | None) -> list[dict[str, Any]]:
    tested = []
    for conclusion in artefact.card.conclusions:
        on_printed = evaluate(conclusion, artefact.cells)
        on_rebuilt = (
            evaluate(conclusion, rebuilt.astype({k: str for k in artefact.key_columns}))
            if rebuilt is not None
            else None
        )
        tested.append(
            {
                "id": conclusion.id,
                "claim": conclusion.claim,
                "source": conclusion.source,
                "test": conclusion.test,
                "on_printed": on_printed.outcome,
                "on_rebuilt": on_rebuilt.outcome if on_rebuilt else "undecided",
                "detail": on_rebuilt.detail if on_rebuilt else f"printed: {on_printed.detail}",
            }
        )
    return tested


def _errata(artefact: Artefact) -> list[dict[str, Any]]:
    errata = []
    for erratum in artefact.card.errata:
        audit = None
        if erratum.audit:
            if erratum.audit not in audits.AUDITS:
                raise CardError(
                    f"{artefact.card_path}: erratum {erratum.id} of {artefact.name} names the "
                    f"audit {erratum.audit!r}, which is not in everycell.audits; correct the name."
                )
            finding = audits.run_audit(erratum.audit, artefact.folder.parent)
            audit = {"name": erratum.audit, "holds": finding.holds, "detail": finding.detail}
        errata.append(
            erratum.model_dump(include={"id", "where", "finding", "evidence", "source"})
            | {"audit": audit}
        )
    return errata


def summary_row(found: Mapping[str, Any]) -> dict[str, Any]:
    """What ``everycell list --json`` prints of a report: counts, no cells.

    Conclusions are counted on the rebuilt values; those of an artefact that was not run are
    undecided.
    """
    outcomes = Counter(conclusion["on_rebuilt"] for conclusion in found["conclusions"])
    return {
        "id": found["artefact"],
        "tier": found["tier"],
        "state": found["state"],
        "verdicts": found["verdicts"],
        "conclusions": {short: outcomes[long] for short, long in OUTCOMES.items()},
    }
