"""Write what is reproduced into README.md: `python docs/make_coverage.py`, in the project folder.

Everything is counted from `tests/expected_verdicts.csv`, which CI holds against a clean run, and
from the cards. The text goes between two marks of the README, so nothing of it is typed.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from everycell.engine.artefacts import Artefact, Paper, load_papers
from everycell.engine.cell_classes import CellClass, described
from everycell.engine.counting import (
    CLAIM_LINES,
    HEADLINES,
    NOT_RUN,
    UNTESTABLE,
    Counts,
    as_query,
    claim_lines,
    count_chapters,
    headline,
    headlines,
    total,
)
from everycell.engine.reports import JudgedCell
from everycell.engine.results import Result, collect
from everycell.engine.tiers import Tier

TARGET = Path("README.md")
PUBLISHED = Path("published")
EXPECTED = Path("tests/expected_verdicts.csv")
EMPTY = Path("no-results")
BEGIN, END = "<!-- made by docs/make_coverage.py: {} -->", "<!-- end of {} -->"


def entries(papers: Mapping[str, Paper], expected: pd.DataFrame) -> list[Result]:
    """Results as the expected verdicts have them, without values."""
    of_result = dict(iter(expected.groupby(["artefact", "tier"], sort=False)))
    found = []
    # The results of an empty folder: all that was not run.
    for entry in collect(papers, EMPTY, EMPTY, audits=None):
        artefact, tier, state = (
            entry.artefact,
            entry.tier,
            entry.artefact.card.tiers[entry.tier].state,
        )
        rows = of_result.get((artefact.id, tier))
        # A result without cells and compared claims leaves no row.
        leaves_no_row = state == "stand_in" or (state == "rebuilt" and artefact.cells.empty)
        if rows is None and (tier == "full" or not leaves_no_row):
            continue
        verdicts = {} if rows is None else dict(rows[["key", "verdict"]].itertuples(index=False))
        # Surrogate data have no verdicts of cells.
        cells = [
            _cell(row, artefact.key_columns, one, verdicts)
            for row, one in zip(
                artefact.cells.to_dict("records"), described(artefact, tier), strict=True
            )
            if state == "rebuilt"
        ]
        claims = [
            claim.model_copy(update={"on_rebuilt": _outcome(claim.id, verdicts, artefact, tier)})
            for claim in entry.report.conclusions
        ]
        told = {"state": state, "cells": cells, "conclusions": claims}
        found.append(replace(entry, report=entry.report.model_copy(update=told)))
    return found


def _outcome(claim: str, verdicts: Mapping[str, str], artefact: Artefact, tier: Tier) -> str:
    """Outcome of a claim; what differs between machines is in no expectation."""
    name = f"conclusion {claim}"
    if name not in verdicts and verdicts and not artefact.card.tiers[tier].varies:
        raise ValueError(
            f"{EXPECTED}: has no outcome of {artefact.id}, {name}; run `everycell check-verdicts "
            f"{EXPECTED} --update` after the results are made."
        )
    return verdicts.get(name, "undecided")


def _cell(
    row: Mapping[str, str], keys: list[str], one: CellClass, verdicts: Mapping[str, str]
) -> JudgedCell:
    key = {name: row[name] for name in keys}
    name = " / ".join(key.values())
    if name not in verdicts:
        raise ValueError(
            f"{EXPECTED}: has no verdict of the cell {name}; run `everycell check-verdicts "
            f"{EXPECTED} --update` after the results are made."
        )
    judged = one.judged(verdicts[name].split(" ")[0])
    told = {name: value or None for name, value in judged._asdict().items()}
    return JudgedCell(key=key, printed=row["value"], rebuilt=None, why=None, **told)


def summary(chapters: Mapping[tuple[str, str], Counts]) -> str:
    """A list for all papers: numbers from data first, then the other kinds, then claims."""
    whole = total(chapters.values())
    lines = [f"- {whole.published:,} published values"]
    lines += [
        f"{'    ' * name.startswith('of them')}- {headline(name, verdicts)}"
        for name, verdicts in headlines(whole).items()
    ]
    lines[1] = f"- **{lines[1][2:]}**"
    lines += [f"- claims tested on {name}: {told}" for name, told in claim_lines(whole).items()]
    lines.append(f"- claims not run: {whole.claims[NOT_RUN]}")
    lines.append(f"- claims not testable here: {whole.untestable}, each with the reason")
    return "\n".join(lines) + "\n"


def filters(chapters: Mapping[tuple[str, str], Counts]) -> str:
    """How each headline number is recomputed from `cells.csv` and `claims.csv`, in pandas."""
    whole = total(chapters.values())
    shown = [(whole.published, "cells.verdict")]
    shown += [
        (verdicts.total(), f'cells.query("{as_query(HEADLINES[name])}").verdict')
        for name, verdicts in headlines(whole).items()
    ]
    shown += [
        (sum(whole.outcomes(*CLAIM_LINES[name]["basis"]).values()), CLAIM_LINES[name])
        for name in claim_lines(whole)
    ]
    shown += [(whole.claims[one], {"basis": one[0]}) for one in (NOT_RUN, UNTESTABLE)]
    lines = []
    for number, where in shown:
        code = where if isinstance(where, str) else f'claims.query("{as_query(where)}").outcome'
        lines.append(f"{code}  # {number:,}\n")
    return "```python\n" + "".join(lines) + "```\n"


def table(papers: Mapping[str, Paper], chapters: Mapping[tuple[str, str], Counts]) -> str:
    """A row for each chapter that has more than drawings."""
    lines = [
        "| chapter | title | artefacts | cells | verdicts | claims | surrogate claims |\n",
        "|---|---|" + "--:|" * 5 + "\n",
    ]
    for (paper, chapter), counts in chapters.items():
        if counts.states["drawing"] == counts.artefacts:
            continue
        verdicts = counts.verdicts(origin=("data", "published inputs"))
        names = ("equal", "close", "explained", "differs")
        cells = [
            f"`{paper}_ch{chapter}`",
            papers[paper].chapters[chapter],
            f"{counts.states['rebuilt']} of {counts.artefacts}",
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
    told = "/".join(str(outcomes[name]) for name in ("holds", "fails", "undecided"))
    return f"{told} + {outcomes['varies']}" if outcomes["varies"] else told


def rendered(page: str, papers: Mapping[str, Paper], expected: pd.DataFrame) -> str:
    """The page with each text replaced between its marks."""
    chapters = count_chapters(papers, entries(papers, expected))
    texts = {
        "summary": summary(chapters),
        "filters": filters(chapters),
        "table": table(papers, chapters),
    }
    for name, text in texts.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"README.md lacks the marks {begin!r} and {end!r}: put them back.")
        page = f"{before}{begin}\n{text}{end}{after}"
    return page


if __name__ == "__main__":
    made = rendered(
        TARGET.read_text("utf-8"), load_papers(PUBLISHED), pd.read_csv(EXPECTED, dtype=str)
    )
    TARGET.write_text(made, encoding="utf-8")
