"""Write what is rebuilt into README.md: `python docs/make_coverage.py`, in the project folder.

Everything is counted from `tests/expected_verdicts.csv`, which CI holds against a clean run, and
from the cards. The text goes between two marks of the README, so nothing of it is typed.
"""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from everycell.engine.artefacts import Paper, all_artefacts, load_papers
from everycell.engine.cell_classes import described
from everycell.engine.counting import (
    HEADLINES,
    Counts,
    claim_lines,
    count_chapters,
    headlines,
    in_words,
    total,
)

TARGET = Path("README.md")
PUBLISHED = Path("published")
EXPECTED = Path("tests/expected_verdicts.csv")
BEGIN, END = "<!-- made by docs/make_coverage.py: {} -->", "<!-- end of {} -->"
CLAIM = "conclusion "


def entries(papers: Mapping[str, Paper], expected: pd.DataFrame) -> list[SimpleNamespace]:
    """Results as the expected verdicts have them, in the form that is counted."""
    of_result = dict(iter(expected.groupby(["artefact", "tier"], sort=False)))
    found = []
    for artefact in all_artefacts(papers):
        for tier, declared in artefact.card.tiers.items():
            rows = of_result.get((artefact.id, tier))
            # A result without cells and compared claims leaves no row.
            bare = (
                declared.state in ("rebuilt", "stand_in")
                and tier != "full"
                and (artefact.cells.empty or declared.state == "stand_in")
            )
            if rows is None and not bare:
                continue
            rows = expected.iloc[:0] if rows is None else rows
            is_claim = rows["key"].str.startswith(CLAIM)
            verdicts = rows.loc[~is_claim, "verdict"].str.split(" ").str[0]
            # Surrogate data have no verdicts.
            cells = [
                SimpleNamespace(**one.judged(verdict)._asdict())
                for one, verdict in zip(described(artefact, tier), verdicts, strict=False)
            ]
            outcomes = list(rows.loc[is_claim, "verdict"])
            if declared.varies:
                outcomes += ["varies"] * (len(artefact.card.conclusions) - len(outcomes))
            claims = [SimpleNamespace(on_rebuilt=outcome) for outcome in outcomes]
            report = SimpleNamespace(state=declared.state, cells=cells, conclusions=claims)
            found.append(SimpleNamespace(artefact=artefact, tier=tier, report=report))
    return found


def summary(chapters: Mapping[tuple[str, str], Counts]) -> str:
    """A list for all papers: numbers from data first, then the other kinds, then claims."""
    whole = total(chapters.values())
    lines = [f"- {whole.published:,} published cells"]
    lines += [
        f"- {verdicts.total():,} {name}: {in_words(verdicts)}"
        for name, verdicts in headlines(whole).items()
    ]
    lines[1] = f"- **{lines[1][2:]}**"
    lines += [f"- claims tested on {name}: {told}" for name, told in claim_lines(whole).items()]
    lines.append(f"- claims not testable here: {whole.untestable}, each with the reason")
    return "\n".join(lines) + "\n"


def filters(chapters: Mapping[tuple[str, str], Counts]) -> str:
    """How each headline number is recomputed from `cells.csv`."""
    told = headlines(total(chapters.values()))
    lines = ["| number | rows of `cells.csv` with `counts` = yes and |", "|--:|---|"]
    for name, verdicts in told.items():
        where = ", ".join(f"`{key}` = {value}" for key, value in HEADLINES[name].items())
        lines.append(f"| {verdicts.total():,} | {where} |")
    return "\n".join(lines) + "\n"


def table(papers: Mapping[str, Paper], chapters: Mapping[tuple[str, str], Counts]) -> str:
    """A row for each chapter that has more than drawings."""
    lines = [
        "| chapter | title | artefacts | reproduced | surrogate data | cells computed | equal "
        "| within tolerance | explained | different | claims on reproduced values "
        "| claims on surrogate data |\n",
        "|---|---|" + "--:|" * 10 + "\n",
    ]
    for (paper, chapter), counts in chapters.items():
        if counts.states["drawing"] == counts.artefacts:
            continue
        found = counts.verdicts(origin=("data", "published inputs"))
        numbers = [found[verdict] or "" for verdict in ("equal", "close", "explained", "differs")]
        computed = f"{counts.reproduced} of {counts.published}" if counts.published else ""
        claims = [_claims(counts, "data", "published inputs"), _claims(counts, "surrogate data")]
        states = [counts.states[state] or "" for state in ("rebuilt", "stand_in")]
        row = [f"`{paper}_ch{chapter}`", papers[paper].chapters[chapter], counts.artefacts]
        cells = [*row, *states, computed, *numbers, *claims]
        lines.append("| " + " | ".join(map(str, cells)) + " |\n")
    return "".join(lines)


def _claims(counts: Counts, *bases: str) -> str:
    outcomes = counts.outcomes(*bases)
    if not sum(outcomes.values()):
        return ""
    return " / ".join(str(outcomes[name]) for name in ("holds", "fails", "undecided"))


def rendered(page: str, papers: Mapping[str, Paper], expected: pd.DataFrame) -> str:
    """Return the page with both texts made anew between their marks."""
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
