"""Data of the reproduction page, collected from records, reports and receipts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from everycell.receipts.lineage import JobRecord, read_lineage
from everycell.records.cells import RecordError
from everycell.records.claims import Untested
from everycell.records.folders import TIERS
from everycell.records.papers import Artefact, Origin, Paper
from everycell.records.registry import load_registry
from everycell.records.tables import RUNNABLE
from everycell.render.page.evidence import bibtex, links_of, section_and_page
from everycell.render.page.failures import failures_of
from everycell.render.page.input_files import input_files
from everycell.render.page.tables import (
    published_table,
    supplement_table,
    surrogate_table,
    verdict_table,
)
from everycell.render.page.vocabulary import (
    FORMAT_NAMES,
    GROUPS,
    OUTCOMES,
    VERDICTS,
    PageEntry,
    label,
    page_of_chapter,
)
from everycell.render.tables.names import shown_label
from everycell.verdicts.counting import (
    Counts,
    claim_lines,
    count_chapters,
    headline,
    headlines,
    total,
)
from everycell.verdicts.reports import CAUSE_NAMES, STATES, explained_by_source, reproduces_no_cell

#: Longer lists of differences are collapsed.
_MAX_UNFOLDED = 12


def build_model(
    papers: Mapping[str, Paper], results: Iterable[PageEntry], folder: Path
) -> dict[str, Any]:
    """Collect the variables of the page's templates."""
    entries: dict[str, list[PageEntry]] = {}
    for entry in results:
        entries.setdefault(entry.artefact.id, []).append(entry)
    counts = count_chapters(
        papers, [entry for artefact_entries in entries.values() for entry in artefact_entries]
    )
    jobs = read_lineage(folder)
    sections: list[dict[str, Any]] = []
    for paper in papers.values():
        artefacts = []
        publication = paper.publication
        for artefact in paper.artefacts.values():
            if artefact.id not in entries:
                raise RecordError(f"{artefact.id}: the report is missing; collect it in each tier.")
            artefacts.append(_artefact(artefact, entries[artefact.id], folder, jobs))
        sections.append(
            {
                "key": paper.key,
                "about": paper,
                "publication": publication,
                "links": links_of(publication),
                "bibtex": bibtex(
                    paper.key,
                    title=paper.title,
                    authors=paper.authors,
                    year=paper.year,
                    kind=paper.kind,
                    publication=publication,
                ),
                "chapters": [
                    _chapter(
                        paper,
                        number,
                        publication.origins.get(number),
                        [artefact for artefact in artefacts if artefact["chapter"] == number],
                        counts[paper.key, number],
                    )
                    for number in paper.chapters
                ],
                **_summary(
                    artefacts, total(counts[paper.key, number] for number in paper.chapters)
                ),
            }
        )
    all_artefacts = [
        artefact
        for section in sections
        for chapter in section["chapters"]
        for artefact in chapter["artefacts"]
    ]
    return {
        "papers": sections,
        "kinds": dict(Counter(paper.kind for paper in papers.values()).most_common()),
        "failures": failures_of(all_artefacts),
        "meaning": {
            "verdicts": VERDICTS,
            "groups": GROUPS,
            "states": STATES,
            "outcomes": OUTCOMES,
            "places": CAUSE_NAMES,
            "tiers": TIERS,
            "max_unfolded": _MAX_UNFOLDED,
        },
        "headline": headline,
        **_summary(all_artefacts, total(counts.values())),
    }


def _chapter(
    paper: Paper,
    number: str,
    origin: Origin | None,
    artefacts: Sequence[Mapping[str, Any]],
    counts: Counts,
) -> dict[str, Any]:
    name = f"{paper.key}_ch{number}"
    short = f"{'Chapter' if number.isdigit() else 'Appendix'} {number}"
    return {
        "title": paper.chapters[number],
        "number": number,
        "name": name,
        "page": page_of_chapter(paper.key, number),
        "id": f"{paper.key}-ch{number}",
        "short": short if len(paper.chapters) > 1 else paper.key,
        "heading": f"{short}: {paper.chapters[number]}"
        if len(paper.chapters) > 1
        else paper.chapters[number],
        "artefacts": artefacts,
        "claims": counts if counts.claimed else None,
        "origin": origin,
        "origin_links": links_of(origin) if origin else [],
        "seconds": sum(
            tier["seconds"] or 0 for artefact in artefacts for tier in artefact["tiers"]
        ),
        "untested": [
            [section_and_page(text) for text in (claim.claim, claim.source, claim.reason)]
            for claim in sorted(paper.untested[number], key=_numbers_of_source)
        ],
        **_summary(artefacts, counts),
    }


def _numbers_of_source(claim: Untested) -> list[int]:
    """Numbers in the source of a claim, to sort claims as in the text."""
    return [int(number) for number in re.findall(r"\d+", claim.source)]


def _summary(artefacts: Sequence[Mapping[str, Any]], counts: Counts) -> dict[str, Any]:
    groups: Counter[str] = Counter(counts.verdicts())
    groups["surrogate"] = counts.verdicts(origin="surrogate data").total()
    groups["not run"] -= groups["surrogate"]
    return {
        "total": counts.artefacts,
        "states": Counter(artefact["state"] for artefact in artefacts),
        "from_other_cells": counts.artefacts_without_data,
        "cells": {group: groups[group] for group in GROUPS},
        "claimed": counts.claimed,
        "headlines": headlines(counts),
        "numbers_not_run": counts.verdicts(kind="number", origin="none").total(),
        "claim_lines": claim_lines(counts),
        "untestable": counts.untestable,
        "contradicted": counts.contradicted,
        "tested_claims": counts.outcomes("data", "published inputs"),
        "surrogate_claims": counts.outcomes("surrogate data"),
    }


def _artefact(
    artefact: Artefact, entries: Sequence[PageEntry], folder: Path, jobs: Sequence[JobRecord]
) -> dict[str, Any]:
    entries = sorted(entries, key=lambda entry: TIERS.index(entry.tier))
    tiers = [_tier(entry, folder, jobs) for entry in entries]
    reproduced_tiers = [tier for tier in tiers if tier["state"] == "reproduced"]
    states = {tier["state"] for tier in tiers}
    state = next(state for state in STATES if state in states)
    # Published cells and claims count once, in the deepest tier that reproduces them.
    deepest = reproduced_tiers[-1]["name"] if reproduced_tiers else None
    if reproduced_tiers:
        counts = reproduced_tiers[-1]["report"].verdicts
    else:
        counts = {state if state in ("quoted", "surrogate") else "not run": len(artefact.cells)}
    verdicts = sorted({verdict for verdict, count in counts.items() if count})
    for tier in tiers:
        tier_counts = tier["report"].verdicts if tier["state"] == "reproduced" else {}
        tier["verdicts"] = (
            [name for name in VERDICTS if tier_counts.get(name)] if reproduced_tiers else verdicts
        )
    claims = _claims(artefact, tiers)
    return {
        "id": artefact.id.replace("/", "-"),
        "key": artefact.id,
        "label": label(artefact.name),
        "words": _search_words(artefact),
        "page": page_of_chapter(artefact.paper, artefact.chapter),
        "differences": page_of_chapter(artefact.paper, artefact.chapter).removesuffix(".html"),
        "chapter": artefact.chapter,
        "record": artefact.record,
        "source": section_and_page(artefact.record.source),
        "explanation": section_and_page(artefact.record.explanation or ""),
        "state": state,
        "folded": state in ("not run", "drawing"),
        "tiers": tiers,
        "counts": counts,
        "explained": (
            explained_by_source(reproduced_tiers[-1]["report"].cells) if reproduced_tiers else {}
        ),
        "from_other_cells": bool(reproduced_tiers) and reproduced_tiers[-1]["from_other_cells"],
        "tables": [
            verdict_table(artefact, tier) | {"downloads": tier["downloads"]}
            for tier in reproduced_tiers
            if tier["report"].cells
        ],
        "surrogate_tables": [
            table
            | {"tier": tier["name"], "name": tier["surrogate"], "downloads": tier["downloads"]}
            for tier in tiers
            if tier["state"] == "surrogate" and tier["shows_table"]
            if (table := surrogate_table(artefact, folder / tier["table"]))
        ],
        "published": None
        if reproduced_tiers or artefact.cells.empty
        else published_table(artefact),
        "claims": claims,
        "not_testable": _not_testable(tiers),
        # Why claims count as not testable, according to the deepest tier.
        "untestable": [
            claim.detail
            for tier in [tier for tier in tiers if tier["state"] == "surrogate"][-1:]
            for claim in tier["report"].claims
            if not reproduced_tiers and claim.on_reproduced == "not testable"
        ],
        "deepest": deepest,
        "claims_count_in": _claims_count_in(artefact, tiers),
        "failing": sum(
            test["outcome"] == "contradicted" and test["tier"] == deepest
            for claim in claims
            for test in claim["on"]
        ),
        "outcomes": [
            test["outcome"]
            for claim in claims
            for test in claim["on"]
            if test["tier"] == deepest and not test["from_other_cells"]
        ],
        "errata": [
            dict(erratum)
            | {
                "source": section_and_page(erratum.source or ""),
                "evidence": section_and_page(erratum.evidence),
            }
            for erratum in entries[0].report.errata
        ],
        "verdicts": verdicts,
    }


def _search_words(artefact: Artefact) -> str:
    """Published names of rows and columns, and claims, for the search."""
    names = artefact.record.names
    keys = [(name, str(key)) for name in artefact.key_columns for key in artefact.cells[name]]
    texts = [str(shown_label(name, key, names)) for name, key in keys]
    claims = [claim.claim for claim in artefact.record.claims]
    return " ".join(dict.fromkeys([*texts, *claims]))


def _claims_count_in(artefact: Artefact, tiers: Sequence[Mapping[str, Any]]) -> str | None:
    """Tier whose contradicted claims the headline counts; None if they vary between machines."""
    names_of_tiers = [tier["name"] for tier in tiers if tier["state"] == "reproduced"]
    names_of_tiers = names_of_tiers or [
        tier["name"] for tier in tiers if tier["state"] == "surrogate"
    ]
    return (
        None
        if not names_of_tiers or artefact.record.tiers[names_of_tiers[-1]].varies
        else names_of_tiers[-1]
    )


def _tier(entry: PageEntry, folder: Path, jobs: Sequence[JobRecord]) -> dict[str, Any]:
    artefact, tier, report = entry.artefact, entry.tier, entry.report
    declared = artefact.record.tiers[tier]
    home = f"{tier}/{artefact.paper}"
    has_run = report.state in RUNNABLE
    files = [name for name in report.files if has_run]
    receipt = _receipt(folder / home / f"{artefact.name}.receipt.json") if has_run else None
    supplements = [
        table | {"downloads": _downloads(home, f"{artefact.name}.{name}", files)}
        for name, title in artefact.record.supplements.items()
        if f"{artefact.name}.{name}.csv" in files and f"{artefact.name}.{name}.svg" not in files
        if (
            table := supplement_table(
                folder / home / f"{artefact.name}.{name}.csv", title, artefact.record.names
            )
        )
    ]
    return {
        "name": tier,
        "state": report.state,
        "surrogate": report.foreign or declared.name,
        "needs": declared.needs,
        "runnable": declared.state in RUNNABLE,
        "faults": entry.faults,
        "report": report,
        "from_other_cells": reproduces_no_cell(report),
        "command": f"snakemake --cores 2 results/{home}/{artefact.name}.csv",
        "receipt": f"{home}/{artefact.name}.receipt.json" if receipt else None,
        "inputs": input_files(receipt, jobs, load_registry()) if receipt else {},
        "seconds": receipt["execution"]["seconds"] if receipt else None,
        "downloads": _downloads(home, artefact.name, files),
        "table": f"{home}/{artefact.name}.csv",
        # The values of a figure are in its picture.
        "shows_table": f"{artefact.name}.csv" in files and f"{artefact.name}.svg" not in files,
        "pictures": [
            {
                "path": f"{home}/{name}",
                "downloads": _downloads(home, name.removesuffix(".svg"), files),
                "title": artefact.record.supplements.get(
                    name.split(".")[-2], artefact.record.title
                ),
            }
            for name in files
            if name.endswith(".svg")
        ],
        "supplements": supplements,
        "links": [{"path": f"{home}/{name}", "name": name} for name in files],
    }


def _not_testable(tiers: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Reason why claims are not testable -> tiers, so that the page states each reason once."""
    reasons: dict[str, list[str]] = {}
    for tier in tiers:
        for claim in tier["report"].claims:
            names = reasons.setdefault(claim.detail, [])
            if claim.on_reproduced == "not testable" and tier["name"] not in names:
                names.append(tier["name"])
    return {reason: names for reason, names in reasons.items() if names}


def _downloads(home: str, stem: str, files: Sequence[str]) -> dict[str, str]:
    """Name of a file format -> path of the table or figure in this format."""
    return {
        name: f"{home}/{stem}.{suffix}"
        for suffix, name in FORMAT_NAMES.items()
        if f"{stem}.{suffix}" in files
    }


def _receipt(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _claims(artefact: Artefact, tiers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    by_tier = [(tier, {judged.id: judged for judged in tier["report"].claims}) for tier in tiers]
    claims = []
    causes = {erratum.id: erratum.cause for erratum in artefact.record.errata}
    for number, claim in enumerate(artefact.record.claims):
        first = by_tier[0][1][claim.id]
        claims.append(
            {
                "id": f"{artefact.id.replace('/', '-')}-claim{number + 1}",
                "claim": claim.claim,
                "source": section_and_page(claim.source),
                "test": claim.test,
                "published": first.on_published,
                "cause": causes.get(claim.erratum or ""),
                # Without a run, the report contains the outcome on published values.
                "detail": next(
                    (
                        judged[claim.id].detail.removeprefix("published: ")
                        for tier, judged in by_tier
                        if tier["state"] not in RUNNABLE
                    ),
                    None,
                ),
                "on": [
                    {
                        "tier": tier["name"],
                        "state": tier["state"],
                        "surrogate": tier["surrogate"],
                        # Values derived from published cells test only the paper's consistency.
                        "from_other_cells": tier["from_other_cells"],
                        "outcome": judged[claim.id].on_reproduced,
                        "detail": judged[claim.id].detail,
                    }
                    for tier, judged in by_tier
                    if tier["state"] in RUNNABLE
                ],
            }
        )
    return claims
