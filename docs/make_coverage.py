"""Write what is rebuilt into README.md: `python docs/make_coverage.py`, in the project folder.

Everything is counted from `tests/expected_verdicts.csv`, which CI holds against a clean run, and
from the cards. The text goes between two marks of the README, so nothing of it is typed.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill

import pandas as pd

from everycell.engine.artefacts import Artefact, Paper, load_papers
from everycell.engine.cards import RUNNABLE
from everycell.engine.tiers import TIERS

TARGET = Path("README.md")
PUBLISHED = Path("published")
EXPECTED = Path("tests/expected_verdicts.csv")
BEGIN, END = "<!-- made by docs/make_coverage.py: {} -->", "<!-- end of {} -->"
#: Verdicts on a cell that was computed again, in the order in which they are told.
RECOMPUTED = ("equal", "close", "explained", "differs")
CLAIM = "conclusion "
MINUTES = ("embedded", "released")


@dataclass
class Counts:
    """What became of a chapter, or of all."""

    artefacts: int = 0
    states: Counter[str] = field(default_factory=Counter)
    printed: int = 0
    cells: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    stand_in_claims: Counter[str] = field(default_factory=Counter)

    def __iadd__(self, other: "Counts") -> "Counts":
        self.artefacts += other.artefacts
        self.printed += other.printed
        for name in ("states", "cells", "claims", "stand_in_claims"):
            getattr(self, name).update(getattr(other, name))
        return self

    @property
    def recomputed(self) -> int:
        """Printed cells that a run here computes again."""
        return sum(self.cells[verdict] for verdict in RECOMPUTED)


def state_of(artefact: Artefact) -> str:
    """Best that a run in minutes makes of an artefact; what it waits for otherwise."""
    tiers = artefact.card.tiers
    here = {tiers[tier].state for tier in MINUTES if tier in tiers}
    for state in ("rebuilt", "stand_in"):
        if state in here:
            return state
    if "full" in tiers and tiers["full"].state in RUNNABLE:
        return "full"
    return "drawing" if artefact.card.kind == "drawing" else "not_run"


def count(artefact: Artefact, expected: pd.DataFrame) -> Counts:
    """Counts of one artefact; each cell and claim once, of the deepest tier that rebuilds it."""
    found = Counts(1, Counter([state_of(artefact)]), len(artefact.cells))
    own = expected[expected["artefact"] == artefact.id]
    states = {tier: card.state for tier, card in artefact.card.tiers.items()}
    # Rebuilt before stand-ins, then the deeper tier before the other one.
    order = own["tier"].map(lambda tier: (states[tier] == "rebuilt", TIERS.index(tier)))
    own = own.assign(order=order).sort_values("order").drop_duplicates("key", keep="last")
    for row in own.itertuples():
        outcome = row.verdict.split(" ")[0]
        if not row.key.startswith(CLAIM):
            found.cells[outcome] += 1
        elif states[row.tier] == "rebuilt":
            found.claims[outcome] += 1
        else:
            found.stand_in_claims[outcome] += 1
    return found


def counted(papers: Mapping[str, Paper], expected: pd.DataFrame) -> dict[tuple[str, str], Counts]:
    """Counts of each paper's chapters."""
    chapters: dict[tuple[str, str], Counts] = {}
    for paper in papers.values():
        for artefact in paper.artefacts.values():
            place = (paper.key, artefact.chapter)
            chapters.setdefault(place, Counts())
            chapters[place] += count(artefact, expected)
    return chapters


def share(part: int, whole: int) -> str:
    """A share in percent, to a decimal; never 100 or 0 where some are missing.

    Examples
    --------
    >>> share(1188, 1294), share(0, 10), share(10, 10), share(2999, 3000), share(1, 3000)
    ('91.8 %', '0.0 %', '100.0 %', '99.9 %', '0.1 %')
    """
    percent = 100 * part / whole
    if 0 < part < whole:
        percent = min(max(percent, 0.1), 99.9)
    return f"{percent:.1f} %"


def claims(counts: Counter[str]) -> str:
    """How many claims hold, fail and are undecided; empty where none was tested.

    Examples
    --------
    >>> claims(Counter(holds=3, fails=1, undecided=2)), claims(Counter())
    ('3 / 1 / 2', '')
    """
    outcomes = ("holds", "fails", "undecided")
    return " / ".join(str(counts[outcome]) for outcome in outcomes) if counts else ""


def summary(chapters: Mapping[tuple[str, str], Counts]) -> str:
    """A paragraph on all works."""
    whole = Counts()
    for each in chapters.values():
        whole += each
    told = {verdict: share(whole.cells[verdict], whole.recomputed) for verdict in RECOMPUTED}
    text = (
        f"Of {whole.printed:,} printed cells, {whole.recomputed:,} can be computed again today in "
        f"less than half an hour on two cores. Of these, {told['equal']} are equal to the print, "
        f"{told['close']} are close, {told['explained']} differ for a reason that is shown, and "
        f"{told['differs']} differ without one. {whole.cells['consistent']} more cells follow from "
        "other printed cells. "
        f"Of {whole.claims.total()} claims that were tested on rebuilt values, "
        f"{whole.claims['holds']} hold, {whole.claims['fails']} fail and "
        f"{whole.claims['undecided']} are undecided."
    )
    return fill(text, 100, break_on_hyphens=False) + "\n"


def table(papers: Mapping[str, Paper], chapters: Mapping[tuple[str, str], Counts]) -> str:
    """A row for each chapter that has more than drawings."""
    lines = [
        "| chapter | title | artefacts | rebuilt | stand-in | full tier only "
        "| cells computed again | equal or close | claims on rebuilt values "
        "| claims on stand-ins |\n",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    ]
    for (paper, chapter), each in chapters.items():
        if each.states["drawing"] == each.artefacts:
            continue
        title = papers[paper].chapters[chapter]
        again = f"{each.recomputed} of {each.printed}" if each.printed else ""
        near = each.cells["equal"] + each.cells["close"]
        lines.append(
            f"| `{paper}_ch{chapter}` | {title} | {each.artefacts} "
            f"| {each.states['rebuilt'] or ''} "
            f"| {each.states['stand_in'] or ''} | {each.states['full'] or ''} | {again} "
            f"| {share(near, each.recomputed) if each.recomputed else ''} "
            f"| {claims(each.claims)} | {claims(each.stand_in_claims)} |\n"
        )
    return "".join(lines)


def rendered(page: str, papers: Mapping[str, Paper], expected: pd.DataFrame) -> str:
    """Return the page with both texts made anew between their marks."""
    chapters = counted(papers, expected)
    for name, text in (("summary", summary(chapters)), ("table", table(papers, chapters))):
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
