"""Write the reproduction counts into README.md.

Run `python docs/make_coverage.py` in the project folder. The counts come from the records and from
`tests/expected_verdicts.csv`, which CI compares with a clean run. The generated text replaces the
text between markers in the README.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import pandas as pd

from everycell.cli.checks import ORIGIN
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, Paper, load_papers
from everycell.verdicts.cells import CellClass, classify_cells, origins_of_cells
from everycell.verdicts.counts import Counts, count_chapters, total
from everycell.verdicts.headlines import (
    CLAIM_LINES,
    HEADLINES,
    as_query,
    claim_lines,
    count_claims,
    headline,
    headlines,
)
from everycell.verdicts.reports import CellOrigin, JudgedCell, Result
from everycell.verdicts.results import collect

TARGET = Path("README.md")
PUBLISHED = Path("published")
EXPECTED = Path("tests/expected_verdicts.csv")
EMPTY = Path("no-results")
BEGIN, END = "<!-- made by docs/make_coverage.py: {} -->", "<!-- end of {} -->"


def entries(papers: Mapping[str, Paper], expected: pd.DataFrame) -> list[Result]:
    """Results with the expected verdicts, without values."""
    rows_by_result = dict(iter(expected.groupby(["artefact", "tier"], sort=False)))
    results = []
    # An empty folder has results for all artefacts, none of which was run.
    for entry in collect(papers, EMPTY, EMPTY, audits=None):
        artefact, tier, state = (
            entry.artefact,
            entry.tier,
            entry.artefact.record.tiers[entry.tier].state,
        )
        rows = rows_by_result.get((artefact.id, tier))
        # A result on surrogate data without compared claims has no rows.
        if rows is None and (tier == "full" or state != "surrogate"):
            continue
        verdicts = {} if rows is None else dict(rows[["key", "verdict"]].itertuples(index=False))
        origin = _origin(artefact, tier, verdicts) if state == "reproduced" else "none"
        origins = origins_of_cells(artefact, tier, origin) if state == "reproduced" else None
        # Cells on surrogate data have no verdicts.
        cells = [
            _cell(row, artefact.key_columns, cell_class, verdicts)
            for row, cell_class in zip(
                artefact.cells.to_dict("records"),
                classify_cells(artefact, origins),
                strict=True,
            )
            if state == "reproduced"
        ]
        claims = [
            claim.model_copy(update={"on_reproduced": _outcome(claim.id, verdicts, artefact, tier)})
            for claim in entry.report.claims
        ]
        report = {"state": state, "origin": origin, "cells": cells, "claims": claims}
        results.append(replace(entry, report=entry.report.model_copy(update=report)))
    return results


def _origin(artefact: Artefact, tier: Tier, verdicts: Mapping[str, str]) -> CellOrigin:
    """Origin of the values of a result, which follows from the files that its job read."""
    if ORIGIN not in verdicts:
        raise ValueError(
            f"{EXPECTED} has no {ORIGIN} of {artefact.id} ({tier}). Reproduce the results, then "
            f"run `everycell check-verdicts {EXPECTED} --update`."
        )
    return cast(CellOrigin, verdicts[ORIGIN])


def _outcome(claim: str, verdicts: Mapping[str, str], artefact: Artefact, tier: Tier) -> str:
    """Outcome of a claim; outcomes that vary between machines are not in the expectations."""
    name = f"claim {claim}"
    if name not in verdicts and verdicts and not artefact.record.tiers[tier].varies:
        raise ValueError(
            f"{EXPECTED} has no outcome of {artefact.id}, {name}. Reproduce the results, then run "
            f"`everycell check-verdicts {EXPECTED} --update`."
        )
    return verdicts.get(name, "inconclusive")


def _cell(
    row: Mapping[str, str], keys: list[str], cell_class: CellClass, verdicts: Mapping[str, str]
) -> JudgedCell:
    key = {name: row[name] for name in keys}
    name = " / ".join(key.values())
    if cell_class.kind == "empty":
        verdicts = {name: "quoted"}
    if name not in verdicts:
        raise ValueError(
            f"{EXPECTED} has no verdict of the cell {name}. Reproduce the results, then run "
            f"`everycell check-verdicts {EXPECTED} --update`."
        )
    judged = cell_class.with_verdict(verdicts[name].split(" (")[0])
    names = ("kind", "origin", "flag", "verdict")
    fields = {name: getattr(judged, name) or None for name in names}
    return JudgedCell(key=key, published=row["value"], reproduced=None, why=None, **fields)


def summary(chapters: Mapping[tuple[str, str], Counts]) -> str:
    """List for all papers: numbers from data first, then the other kinds, then claims."""
    counts = total(chapters.values())
    lines = [f"- {counts.published:,} published values"]
    lines += [
        f"{'    ' * name.startswith('of them')}- {headline(name, verdicts)}"
        for name, verdicts in headlines(counts).items()
    ]
    lines[1] = f"- **{lines[1][2:]}**"
    lines += [
        f"{'    ' * name.startswith('of them')}- {line}"
        for name, line in claim_lines(counts).items()
    ]
    return "\n".join(lines) + "\n"


def filters(chapters: Mapping[tuple[str, str], Counts]) -> str:
    """pandas code that recomputes the headline numbers from `cells.csv` and `claims.csv`."""
    counts = total(chapters.values())
    numbers = [(counts.published, "cells.verdict")]
    numbers += [
        (verdicts.total(), f'cells.query("{as_query(HEADLINES[name])}").verdict')
        for name, verdicts in headlines(counts).items()
    ]
    for name in claim_lines(counts):
        line = CLAIM_LINES[name]
        selection = f'.query("{as_query(line.where)}")' if line.where else ""
        number = count_claims(counts, line).total()
        numbers.append((number, f"claims{selection}.{line.column}"))
    lines = [_wrap(f"{code}  # {number:,}\n") for number, code in numbers]
    return "```python\n" + "".join(lines) + "```\n"


def _wrap(line: str) -> str:
    """Break a query of more than 100 characters where the formatter breaks it."""
    return line if len(line) <= 101 else line.replace('("', '(\n    "').replace('")', '"\n)')


def table(papers: Mapping[str, Paper], chapters: Mapping[tuple[str, str], Counts]) -> str:
    """Table with one row per chapter, except chapters that only have drawings."""
    lines = [
        "| chapter | title | artefacts | cells | verdicts | claims | surrogate claims |\n",
        "|---|---|" + "--:|" * 5 + "\n",
    ]
    for (paper, chapter), counts in chapters.items():
        if counts.states["drawing"] == counts.artefacts:
            continue
        verdicts = counts.verdicts(origin=("data", "published inputs"))
        names = ("equal", "within tolerance", "too noisy to judge", "explained", "different")
        cells = [
            f"`{paper}_ch{chapter}`",
            papers[paper].chapters[chapter],
            f"{counts.states['reproduced']} of {counts.artefacts}",
            f"{counts.reproduced} of {counts.published}" if counts.published else "",
            "/".join(str(verdicts[name]) for name in names) if verdicts.total() else "",
            _claims(counts, "data", "published inputs"),
            _claims(counts, "surrogate data"),
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |\n")
    return "".join(lines)


def _claims(counts: Counts, *bases: str) -> str:
    outcomes = counts.outcomes(*bases)
    if not sum(outcomes.values()):
        return ""
    numbers = "/".join(
        str(outcomes[name]) for name in ("supported", "contradicted", "inconclusive")
    )
    varying = outcomes["dependent on the machine"]
    return f"{numbers} + {varying}" if varying else numbers


def update_page(page: str, papers: Mapping[str, Paper], expected: pd.DataFrame) -> str:
    """Replace the generated texts of the page, which are between markers."""
    chapters = count_chapters(papers, entries(papers, expected))
    texts = {
        "summary": summary(chapters),
        "filters": filters(chapters),
        "table": table(papers, chapters),
    }
    for name, text in texts.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, begin_marker, remainder = page.partition(begin)
        _, end_marker, after = remainder.partition(end)
        if not begin_marker or not end_marker:
            raise ValueError(f"README.md lacks the markers {begin!r} and {end!r}. Restore them.")
        page = f"{before}{begin}\n{text}{end}{after}"
    return page


if __name__ == "__main__":
    text = update_page(
        TARGET.read_text("utf-8"), load_papers(PUBLISHED), pd.read_csv(EXPECTED, dtype=str)
    )
    TARGET.write_text(text, encoding="utf-8")
