"""The reproduction page: one static file that shows every artefact and what does not stand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from everycell.engine.artefacts import Artefact, Paper, load_papers
from everycell.engine.cards import RUNNABLE, TIERS, Tier
from everycell.engine.files import write_atomically
from everycell.engine.printed_cells import CardError
from everycell.engine.render.tables import environment, head_rows, lay_out, show_value

#: Verdict -> its mark beside a cell, its name, and what it says.
VERDICTS = {
    "equal": ("✓", "equal", "the rebuilt value rounds to the printed one"),
    "close": ("≈", "close", "one unit of the last digit away, or within a tolerance with a cause"),
    "differs": ("✗", "differs", "the rebuilt value is another one, and nothing explains it yet"),
    # Many are errors of our copy, so the page does not call them misprints.
    "misprint": (
        "!",
        "differs, explained",
        "an erratum says why, and whether the error is in the print, in our copy or undecided "
        "(`misprint` in the files)",
    ),
    "quoted": ("q", "quoted", "an input, or taken from elsewhere: never compared"),
    "not_run": ("–", "not run", "no rebuilt value here; each artefact says what a run needs"),
}
OUTCOMES = {"holds": "✓", "fails": "✗", "undecided": "?"}
STATES = {
    "rebuilt": "rebuilt",
    "stand_in": "stand-in",
    "quoted": "quoted",
    "not_run": "not run",
    "drawing": "drawing",
}
#: Where an error is -> how it is named. Only the first is an error of the paper.
PLACES = {
    "print": "error in the print",
    "copy": "error of our copy, not of the paper",
    "undecided": "undecided: print, copy or a rule of counting",
}
#: A table beside an artefact that is longer than this is linked, not shown.
_BESIDE_CELLS = 200


class Found(Protocol):
    """What is known of an artefact in a tier; `everycell.engine.results.Result` is one."""

    @property
    def artefact(self) -> Artefact:
        """Card and printed cells."""

    @property
    def tier(self) -> Tier:
        """Tier of the report."""

    @property
    def report(self) -> Mapping[str, Any]:
        """What a verdict file holds."""

    @property
    def faults(self) -> Sequence[str]:
        """Why a result on disk is not trusted; empty where it is, or where there is none."""


def label(name: str) -> str:
    """Name of an artefact as the print has it.

    Examples
    --------
    >>> label("table_4_A_3"), label("figure_7_4")
    ('Table 4.A.3', 'Figure 7.4')
    """
    kind, _, number = name.partition("_")
    return f"{kind.capitalize()} {number.replace('_', '.')}"


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


def write_page(
    path: Path, found: Sequence[Found], papers: Mapping[str, Paper] | None = None
) -> Path:
    """Write the reproduction page.

    Parameters
    ----------
    path
        The page, as in ``results/index.html``; results lie beside it in folders of their tiers.
    found
        One entry for each artefact and tier, as `everycell.engine.results.collect` gives them.
    papers
        Cards; by default those of the folder that the artefacts of `found` come from.

    Returns
    -------
    Path
        `path`. The same results give the same bytes.
    """
    if papers is None:
        papers = load_papers(found[0].artefact.folder.parent)
    return write_atomically(path, page_of(path.parent, found, papers))


def page_of(folder: Path, found: Sequence[Found], papers: Mapping[str, Paper]) -> str:
    """Text of the reproduction page of a results folder, as `write_page` writes it.

    Examples
    --------
    >>> page_of(Path("results"), [], {}).lstrip().lower().startswith("<!doctype html>")
    True
    """
    template = environment().get_template("page.html.j2")
    return template.render(build_model(papers, found, folder))


def _summary(artefacts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    cells: Counter[str] = Counter()
    conclusions: Counter[str] = Counter()
    for one in artefacts:
        cells.update(one["counts"])
        conclusions.update(one["outcomes"])
    return {
        "total": len(artefacts),
        "states": Counter(one["state"] for one in artefacts),
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
        counts = rebuilt[-1]["report"]["verdicts"]
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
        "tables": [_verdict_table(artefact, tier) for tier in rebuilt if tier["report"]["cells"]],
        "printed": None if rebuilt or artefact.cells.empty else _printed_table(artefact),
        "conclusions": conclusions,
        "failing": sum(
            on["outcome"] == "fails" and on["state"] == "rebuilt"
            for one in conclusions
            for on in one["on"]
        ),
        "outcomes": [outcome["outcome"] for one in conclusions for outcome in one["on"]
                     if outcome["state"] == "rebuilt"],
        "errata": entries[0].report["errata"],
        "verdicts": sorted({verdict for verdict, count in counts.items() if count}),
    }  # fmt: skip


def _tier(entry: Found, folder: Path) -> dict[str, Any]:
    artefact, tier, report = entry.artefact, entry.tier, entry.report
    declared = artefact.card.tiers[tier]
    home = f"{tier}/{artefact.paper}"
    made = report["state"] in RUNNABLE
    files = [name for name in report["files"] if made]
    receipt = _receipt(folder / home / f"{artefact.name}.receipt.json") if made else None
    beside = {
        name: _beside_table(folder / home / f"{artefact.name}.{name}.csv", title)
        for name, title in artefact.card.beside.items()
        if f"{artefact.name}.{name}.csv" in files and f"{artefact.name}.{name}.svg" not in files
    }
    return {
        "name": tier,
        "state": report["state"],
        "stand_in": declared.name,
        "needs": declared.needs,
        "runnable": declared.state in RUNNABLE,
        "faults": entry.faults,
        "report": report,
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
    by_tier = [
        (tier, {found["id"]: found for found in tier["report"]["conclusions"]}) for tier in tiers
    ]
    conclusions = []
    for number, conclusion in enumerate(artefact.card.conclusions):
        first = by_tier[0][1][conclusion.id]
        conclusions.append(
            {
                "id": f"{artefact.id.replace('/', '-')}-claim{number + 1}",
                "claim": conclusion.claim,
                "source": conclusion.source,
                "test": conclusion.test,
                "printed": first["on_printed"],
                # A report of an artefact that was not run says how its printed values fare.
                "detail": next(
                    (
                        found[conclusion.id]["detail"].removeprefix("printed: ")
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
                        "outcome": found[conclusion.id]["on_rebuilt"],
                        "detail": found[conclusion.id]["detail"],
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
    cells: dict[str, list[dict[str, Any]]] = {"differs": [], "misprint": [], "copy": []}
    claims: dict[str, list[dict[str, Any]]] = {"rebuilt": [], "printed": [], "stand_in": []}
    errata, faults = [], []
    for one in artefacts:
        faults += [(one, tier, fault) for tier in one["tiers"] for fault in tier["faults"]]
        explained = set()
        for table in one["tables"]:
            bad = [cell for cell in table["cells"] if cell["verdict"] in cells]
            for (verdict, why), group in groupby(bad, key=lambda cell: (cell["verdict"],
                                                                        cell["why"])):  # fmt: skip
                place, _, finding = (why or "").partition(": ")
                known = verdict == "misprint" and place in PLACES
                explained.add(finding)
                cells["copy" if known and place == "copy" else verdict].append(
                    {
                        "artefact": one,
                        "tier": table["tier"],
                        "place": place if known else None,
                        "finding": finding if known else why,
                        "cells": list(group),
                    }
                )
        errata += [
            {"artefact": one, **erratum}
            for erratum in one["errata"]
            if erratum["finding"] not in explained
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
        "count": {name: sum(len(one["cells"]) for one in group) for name, group in cells.items()},
        "claims": claims,
        "errata": errata,
        "faults": faults,
    }


def _verdict_table(artefact: Artefact, tier: Mapping[str, Any]) -> dict[str, Any]:
    reported = tier["report"]["cells"]
    cells = []
    for number, cell in enumerate(reported):
        decimals = artefact.decimals(cell["key"].get("metric", "all"))
        rebuilt = cell["rebuilt"]
        both = cell["verdict"] in ("close", "differs", "misprint")
        cells.append(
            {
                "name": " / ".join(cell["key"].values()),
                "printed": cell["printed"],
                "rebuilt": show_value(rebuilt, decimals) if both else None,
                "exact": f"{rebuilt:.6g}" if isinstance(rebuilt, float) else rebuilt,
                "verdict": cell["verdict"],
                "why": cell["why"],
                "markers": _markers(cell.get("markers")),
                "id": f"{artefact.id.replace('/', '-')}-{tier['name']}-{number + 1}"
                if both
                else None,
            }
        )
    frame = pd.DataFrame([cell["key"] for cell in reported]).assign(value=cells)
    return {
        "tier": tier["name"],
        "cells": cells,
        "rmse": tier["report"]["rmse"],
        "tau": tier["report"]["kendall_tau"],
        **_laid(frame, artefact),
    }


def _markers(markers: Mapping[str, str] | None) -> str | None:
    if markers is None:
        return None
    return "; ".join(f"{name} marker: {text or 'none'}" for name, text in markers.items())


def _printed_table(artefact: Artefact) -> dict[str, Any]:
    table = artefact.cells
    texts = table["value"]
    for extra in ("unit", "marker"):
        if extra in table:
            texts = (texts + " " + table[extra]).str.strip()
    return _laid(table[artefact.key_columns].assign(value=texts), artefact)


def _beside_table(path: Path, title: str) -> dict[str, Any] | None:
    """Read a table that stands beside; counts are shown whole, else four significant digits."""
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    if len(table) > _BESIDE_CELLS:
        return None
    keys = [column for column in table.columns if column not in ("value", "marker")]
    numbers = pd.to_numeric(table["value"], errors="coerce").astype(float)
    texts = [
        # With four digits a count of ten thousands would become 1.234e+04.
        text if pd.isna(number) else f"{number:.{10 if number.is_integer() else 4}g}"
        for text, number in zip(table["value"], numbers, strict=True)
    ]
    if "marker" in table:
        texts = [
            {"text": text, "marker": marker} if marker else text
            for text, marker in zip(texts, table["marker"], strict=True)
        ]
    table["value"] = pd.Series(texts, dtype=object)
    split = max(1, len(keys) - 1)
    return {"title": title, **_grid(table, keys[:split], keys[split:])}


def _laid(frame: pd.DataFrame, artefact: Artefact) -> dict[str, Any]:
    layout = artefact.card.layout
    keys = artefact.key_columns
    if layout:
        return _grid(frame, layout.rows, layout.columns)
    across = [key for key in keys[1:] if key == "metric"]
    return _grid(frame, [key for key in keys if key not in across], across)


def _grid(frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    """Lay a tidy frame out as rows of a table; a label spans the rows of its group."""
    laid = lay_out(frame, rows, columns).astype(object)
    laid = laid.where(laid.notna(), None)
    keys = [key if isinstance(key, tuple) else (key,) for key in laid.index]
    sizes = [Counter(key[: depth + 1] for key in keys) for depth in range(len(rows))]
    seen: set[tuple] = set()
    body = []
    for key, values in zip(keys, laid.to_numpy(), strict=True):
        labels = []
        for depth, size in enumerate(sizes):
            group = key[: depth + 1]
            if group not in seen:
                seen.add(group)
                labels.append({"label": group[-1], "span": size[group]})
        body.append({"labels": labels, "values": list(values)})
    return {
        "names": [str(name).replace("_", " ") for name in rows],
        "head": head_rows(laid.columns) if columns else [],
        "body": body,
    }
