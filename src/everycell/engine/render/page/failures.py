"""What a reviewer looks for first: different cells, contradicted claims, untrusted results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from everycell.engine.cards import RUNNABLE, Tolerance
from everycell.engine.reports import PLACES


def common_cause(why: str | None, tolerances: Iterable[Tolerance]) -> str:
    """Cause that cells of a table share; the spread of each cell is with the cell."""
    why = why or ""
    return next((one.because for one in tolerances if why.endswith(one.because)), why)


def failures_of(artefacts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Collect what was not reproduced, from artefacts as the page has them.

    Each table is one entry, with its cells by the reason for their verdict.
    """
    # An error of our own copy says nothing against the paper, so it is listed apart.
    cells: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("differs", "inconsistent", "explained", "copy")
    }
    claims: dict[str, list[dict[str, Any]]] = {"rebuilt": [], "printed": [], "stand_in": []}
    errata, faults = [], []
    for one in artefacts:
        faults += [(one, tier, fault) for tier in one["tiers"] for fault in tier["faults"]]
        explained = set()
        # Of two tiers that rebuild an artefact the deeper one counts, as everywhere.
        for table in one["tables"][-1:]:
            counted = (cell for cell in table["cells"] if cell["kind"] != "check")
            bad = [cell for cell in counted if cell["verdict"] in cells]
            reasons: dict[str, dict[tuple, list]] = {}
            for cell in bad:
                explained.add(cell["why"])
                name = "copy" if cell["source"] == "copy" else cell["verdict"]
                by_reason = reasons.setdefault(name, {})
                why = common_cause(cell["why"], one["card"].tolerances)
                by_reason.setdefault((cell["source"], why), []).append(cell)
            for name, by_reason in reasons.items():
                groups = [
                    {"place": source, "finding": why, "cells": group}
                    for (source, why), group in by_reason.items()
                ]
                cells[name].append({"artefact": one, "tier": table["tier"], "groups": groups})
        errata += [
            {"artefact": one, **erratum}
            for erratum in one["errata"]
            if erratum["finding"] not in explained
        ]
        for claim in one["conclusions"]:
            # As the headline counts them: in one tier, and not where they vary by machine.
            failing = [
                on
                for on in claim["on"]
                if on["outcome"] == "fails" and on["tier"] == one["claims_count_in"]
            ]
            for state in RUNNABLE:
                claims[state] += [
                    {"artefact": one, "claim": claim, **on}
                    for on in failing
                    if on["state"] == state
                ]
            # A claim that the paper's own numbers contradict, where no reproduced table says so.
            if claim["printed"] == "fails" and not any(on["state"] == "rebuilt" for on in failing):
                claims["printed"].append({"artefact": one, "claim": claim})
    return {
        "cells": cells,
        "explained": {
            cause: sum(
                len(group["cells"])
                for entry in cells["explained"]
                for group in entry["groups"]
                if group["place"] == cause
            )
            for cause in PLACES
        },
        "count": {
            name: sum(len(group["cells"]) for entry in entries for group in entry["groups"])
            for name, entries in cells.items()
        },
        "claims": claims,
        "errata": errata,
        "faults": faults,
    }
