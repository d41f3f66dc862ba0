"""Findings for reviewers: cells that differ, contradicted claims, untrusted results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everycell.records.cells import without_spread
from everycell.records.tables import RUNNABLE
from everycell.verdicts.reports import CAUSE_NAMES, UNCOUNTED


def failures_of(artefacts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Collect what was not reproduced, from the artefacts of the page's model.

    Each table is one entry, with its cells grouped by the reason for their verdict.
    """
    # Our transcription errors are not evidence against the paper, so they are listed separately.
    cells: dict[str, list[dict[str, Any]]] = {
        name: []
        for name in ("different", "inconsistent", "explained", "copy", "too noisy to judge")
    }
    claims: dict[str, list[dict[str, Any]]] = {"reproduced": [], "published": [], "surrogate": []}
    errata, faults = [], []
    for artefact in artefacts:
        faults += [
            (artefact, tier, fault) for tier in artefact["tiers"] for fault in tier["faults"]
        ]
        causes = set()
        # If several tiers reproduce an artefact, the deepest one counts.
        for table in artefact["tables"][-1:]:
            different_cells = [
                cell
                for cell in table["cells"]
                if cell["kind"] not in UNCOUNTED and cell["verdict"] in cells
            ]
            reasons: dict[str, dict[tuple, list]] = {}
            for cell in different_cells:
                causes.add(cell["why"])
                name = "copy" if cell["source"] == "copy" else cell["verdict"]
                by_reason = reasons.setdefault(name, {})
                # A reason such as a sign test stays: without it, a cell within its tolerance
                # would seem to be different by mistake.
                why = without_spread(cell["why"] or "")
                by_reason.setdefault((cell["source"], why), []).append(cell)
            for name, by_reason in reasons.items():
                groups = [
                    {"place": source, "finding": why, "cells": group}
                    for (source, why), group in by_reason.items()
                ]
                cells[name].append({"artefact": artefact, "tier": table["tier"], "groups": groups})
        errata += [
            {"artefact": artefact, **erratum}
            for erratum in artefact["errata"]
            if erratum["finding"] not in causes
        ]
        for claim in artefact["claims"]:
            # As in the headline, a claim counts in one tier, or not at all if it varies between
            # machines.
            failed_tests = [
                test
                for test in claim["on"]
                if test["outcome"] == "contradicted" and test["tier"] == artefact["claims_count_in"]
            ]
            for state in RUNNABLE:
                claims[state] += [
                    {"artefact": artefact, "claim": claim, **test}
                    for test in failed_tests
                    if test["state"] == state
                ]
            # Published values contradict the claim, and reproduced values do not.
            if claim["published"] == "contradicted" and not any(
                test["state"] == "reproduced" for test in failed_tests
            ):
                claims["published"].append({"artefact": artefact, "claim": claim})
    return {
        "cells": cells,
        "explained": {
            cause: sum(
                len(group["cells"])
                for entry in cells["explained"]
                for group in entry["groups"]
                if group["place"] == cause
            )
            for cause in CAUSE_NAMES
        },
        "count": {
            name: sum(len(group["cells"]) for entry in entries for group in entry["groups"])
            for name, entries in cells.items()
        },
        "claims": claims,
        "errata": errata,
        "faults": faults,
    }
