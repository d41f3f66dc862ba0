"""What the reproduction page shows, collected from cards, reports and receipts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from everycell.engine.artefacts import Artefact, Paper
from everycell.engine.cards import RUNNABLE, Untested
from everycell.engine.coverage import coverage
from everycell.engine.printed_cells import CardError
from everycell.engine.render.page.tables import companion_table, printed_table, verdict_table
from everycell.engine.render.page.vocabulary import (
    OUTCOMES,
    STATES,
    VERDICTS,
    Found,
    label,
)
from everycell.engine.reports import PLACES, explained_by_source, without_rebuilt_cell
from everycell.engine.tiers import TIERS


def build_model(
    papers: Mapping[str, Paper], found: Iterable[Found], folder: Path
) -> dict[str, Any]:
    """Collect what the page shows, ready for the template.

    Parameters
    ----------
    papers
        Cards and printed cells.
    found
        One entry for each artefact and tier. A result with faults is named as not trusted, and
        its report must then be that of an artefact which was not run.
    folder
        Folder of the results and of the page; receipts and tables beside are read from it, and
        links are relative to it.

    Returns
    -------
    dict
        `papers` (summary, chapters, artefacts), `cells` (printed cells by verdict, each counted
        once, in the deepest tier that rebuilt it), `conclusions` and `falls` (what does not
        stand).

    Raises
    ------
    CardError
        An artefact without any entry.
    """
    entries: dict[str, list[Found]] = {}
    for entry in found:
        entries.setdefault(entry.artefact.id, []).append(entry)
    claims = {
        counts.name: counts
        for counts in coverage(papers, [one for of_one in entries.values() for one in of_one])
    }
    shown = []
    for paper in papers.values():
        artefacts = []
        for artefact in paper.artefacts.values():
            if artefact.id not in entries:
                raise CardError(f"{artefact.id}: no report was given; collect it in each tier.")
            artefacts.append(_artefact(artefact, entries[artefact.id], folder))
        shown.append(
            {
                "key": paper.key,
                "about": paper,
                "chapters": [
                    {
                        "title": title,
                        "number": number,
                        "id": f"{paper.key}-ch{number}",
                        "artefacts": [one for one in artefacts if one["chapter"] == number],
                        "claims": claims.get(f"{paper.key}_ch{number}"),
                        "untested": sorted(paper.untested[number], key=_first_line),
                    }
                    for number, title in paper.chapters.items()
                ],
                **_summary(artefacts),
            }
        )
    everything = [
        one for paper in shown for chapter in paper["chapters"] for one in chapter["artefacts"]
    ]
    return {
        "papers": shown,
        "kinds": dict(Counter(paper.kind for paper in papers.values()).most_common()),
        "falls": _falls(everything),
        "meaning": {"verdicts": VERDICTS, "states": STATES, "outcomes": OUTCOMES, "places": PLACES},
        **_summary(everything),
    }


def _first_line(claim: Untested) -> tuple[int, str]:
    line = re.search(r"\d+", claim.source)
    return (int(line[0]) if line else 0, claim.source)


def _summary(artefacts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    cells: Counter[str] = Counter()
    conclusions: Counter[str] = Counter()
    for one in artefacts:
        cells.update(one["counts"])
        conclusions.update(one["outcomes"])
    return {
        "total": len(artefacts),
        "states": Counter(one["state"] for one in artefacts),
        "hollow": sum(one["hollow"] for one in artefacts),
        "cells": {verdict: cells[verdict] for verdict in VERDICTS},
        "conclusions": {outcome: conclusions[outcome] for outcome in OUTCOMES},
    }


def _artefact(artefact: Artefact, entries: Sequence[Found], folder: Path) -> dict[str, Any]:
    entries = sorted(entries, key=lambda entry: TIERS.index(entry.tier))
    tiers = [_tier(entry, folder) for entry in entries]
    rebuilt = [tier for tier in tiers if tier["state"] == "rebuilt"]
    states = {tier["state"] for tier in tiers}
    state = next(state for state in STATES if state in states)
    if rebuilt:
        # Each printed cell counts once, in the deepest tier.
        counts = rebuilt[-1]["report"].verdicts
    else:
        counts = {"quoted" if state == "quoted" else "not_run": len(artefact.cells)}
    conclusions = _conclusions(artefact, tiers)
    return {
        "id": artefact.id.replace("/", "-"),
        "key": artefact.id,
        "label": label(artefact.name),
        "chapter": artefact.chapter,
        "card": artefact.card,
        "state": state,
        "tiers": tiers,
        "counts": counts,
        "explained": explained_by_source(rebuilt[-1]["report"].cells) if rebuilt else {},
        "hollow": bool(rebuilt) and rebuilt[-1]["hollow"],
        "tables": [verdict_table(artefact, tier) for tier in rebuilt if tier["report"].cells],
        "printed": None if rebuilt or artefact.cells.empty else printed_table(artefact),
        "conclusions": conclusions,
        "failing": sum(
            on["outcome"] == "fails" and on["state"] == "rebuilt"
            for one in conclusions
            for on in one["on"]
        ),
        "outcomes": [outcome["outcome"] for one in conclusions for outcome in one["on"]
                     if outcome["state"] == "rebuilt" and not outcome["hollow"]],
        "errata": entries[0].report.errata,
        "verdicts": sorted({verdict for verdict, count in counts.items() if count}),
    }  # fmt: skip


def _tier(entry: Found, folder: Path) -> dict[str, Any]:
    artefact, tier, report = entry.artefact, entry.tier, entry.report
    declared = artefact.card.tiers[tier]
    home = f"{tier}/{artefact.paper}"
    made = report.state in RUNNABLE
    files = [name for name in report.files if made]
    receipt = _receipt(folder / home / f"{artefact.name}.receipt.json") if made else None
    beside = {
        name: companion_table(folder / home / f"{artefact.name}.{name}.csv", title)
        for name, title in artefact.card.beside.items()
        if f"{artefact.name}.{name}.csv" in files and f"{artefact.name}.{name}.svg" not in files
    }
    return {
        "name": tier,
        "state": report.state,
        "stand_in": declared.name,
        "needs": declared.needs,
        "runnable": declared.state in RUNNABLE,
        "faults": entry.faults,
        "report": report,
        "hollow": without_rebuilt_cell(artefact.card, report),
        "command": f"snakemake --cores 2 results/{home}/{artefact.name}.csv",
        "receipt": f"{home}/{artefact.name}.receipt.json" if receipt else None,
        "seconds": receipt["execution"]["seconds"] if receipt else None,
        "pictures": [
            {
                "path": f"{home}/{name}",
                "title": artefact.card.beside.get(name.split(".")[-2], artefact.card.title),
            }
            for name in files
            if name.endswith(".svg")
        ],
        "beside": beside,
        "links": [{"path": f"{home}/{name}", "name": name} for name in files],
    }


def _receipt(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _conclusions(artefact: Artefact, tiers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    by_tier = [(tier, {found.id: found for found in tier["report"].conclusions}) for tier in tiers]
    conclusions = []
    for number, conclusion in enumerate(artefact.card.conclusions):
        first = by_tier[0][1][conclusion.id]
        conclusions.append(
            {
                "id": f"{artefact.id.replace('/', '-')}-claim{number + 1}",
                "claim": conclusion.claim,
                "source": conclusion.source,
                "test": conclusion.test,
                "printed": first.on_printed,
                # A report of an artefact that was not run says how its printed values fare.
                "detail": next(
                    (
                        found[conclusion.id].detail.removeprefix("printed: ")
                        for tier, found in by_tier
                        if tier["state"] not in RUNNABLE
                    ),
                    None,
                ),
                "on": [
                    {
                        "tier": tier["name"],
                        "state": tier["state"],
                        "stand_in": tier["stand_in"],
                        # What follows from printed cells tests the print.
                        "hollow": tier["hollow"],
                        "outcome": found[conclusion.id].on_rebuilt,
                        "detail": found[conclusion.id].detail,
                    }
                    for tier, found in by_tier
                    if tier["state"] in RUNNABLE
                ],
            }
        )
    return conclusions


def _falls(artefacts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Collect what a reviewer looks for first; cells with one reason stand together."""
    # An error of our own copy says nothing against the paper, so it stands apart.
    cells: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("differs", "inconsistent", "explained", "copy")
    }
    claims: dict[str, list[dict[str, Any]]] = {"rebuilt": [], "printed": [], "stand_in": []}
    errata, faults = [], []
    for one in artefacts:
        faults += [(one, tier, fault) for tier in one["tiers"] for fault in tier["faults"]]
        explained = set()
        for table in one["tables"]:
            bad = [cell for cell in table["cells"] if cell["verdict"] in cells]
            by = itemgetter("verdict", "source", "why")
            for (verdict, source, why), group in groupby(bad, key=by):
                explained.add(why)
                cells["copy" if source == "copy" else verdict].append(
                    {
                        "artefact": one,
                        "tier": table["tier"],
                        "place": source,
                        "finding": why,
                        "cells": list(group),
                    }
                )
        errata += [
            {"artefact": one, **dict(erratum)}
            for erratum in one["errata"]
            if erratum.finding not in explained
        ]
        for claim in one["conclusions"]:
            failing = [on for on in claim["on"] if on["outcome"] == "fails"]
            for state in RUNNABLE:
                claims[state] += [
                    {"artefact": one, "claim": claim, **on}
                    for on in failing
                    if on["state"] == state
                ]
            # A claim that the paper's own numbers contradict, where no rebuilt table says so.
            if claim["printed"] == "fails" and not any(on["state"] == "rebuilt" for on in failing):
                claims["printed"].append({"artefact": one, "claim": claim})
    return {
        "cells": cells,
        "explained": {
            place: sum(
                len(group["cells"]) for group in cells["explained"] if group["place"] == place
            )
            for place in PLACES
        },
        "count": {name: sum(len(one["cells"]) for one in group) for name, group in cells.items()},
        "claims": claims,
        "errata": errata,
        "faults": faults,
    }
