"""Papers, chapters and findings on the page, with their counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from everycell.receipts.provenance import read_lineage
from everycell.records.cells import RecordError, without_spread
from everycell.records.claims import Untested
from everycell.records.papers import Origin, Paper, Publication
from everycell.records.tables import Cause
from everycell.render.page.artefacts import (
    ArtefactOnPage,
    ClaimOnPage,
    ClaimTest,
    artefact_on_page,
)
from everycell.render.page.tiers import TierOnPage
from everycell.render.verdict_tables import VerdictCell
from everycell.render.vocabulary import GROUPS, page_of_chapter
from everycell.verdicts.counts import Counts, count_chapters, total
from everycell.verdicts.headlines import claim_lines, headline, headlines
from everycell.verdicts.reports import CAUSE_NAMES, UNCOUNTED, JudgedErratum, Result, Verdict


@dataclass(frozen=True)
class Summary:
    """Artefacts of a chapter, paper or page, and their counts."""

    artefacts: list[ArtefactOnPage]
    counts: Counts

    @property
    def states(self) -> Counter[str]:
        """Number of artefacts by state."""
        return Counter(
            artefact.deepest.shown_state if artefact.deepest else artefact.state
            for artefact in self.artefacts
        )

    @cached_property
    def cells(self) -> dict[str, int]:
        """Number of published cells by group."""
        groups: Counter[str] = Counter(self.counts.verdicts())
        groups["surrogate"] = self.counts.verdicts(origin="surrogate data").total()
        groups["not run"] -= groups["surrogate"]
        return {group: groups[group] for group in GROUPS}

    @cached_property
    def headlines(self) -> dict[str, Counter[Verdict]]:
        """Headlines with their verdicts."""
        return headlines(self.counts)

    @property
    def headline_lines(self) -> dict[str, str]:
        """Texts of the headlines."""
        return {name: headline(name, verdicts) for name, verdicts in self.headlines.items()}

    @property
    def numbers_not_run(self) -> int:
        """Number of published numbers that were not run."""
        return self.counts.verdicts(kind="number", origin="none").total()

    @cached_property
    def claim_lines(self) -> dict[str, str]:
        """Lines of the scoreboard of claims."""
        return claim_lines(self.counts)

    @property
    def tested_claims(self) -> Counter[str]:
        """Outcomes of claims on the paper's own data."""
        return self.counts.outcomes("data", "published inputs")

    @property
    def surrogate_claims(self) -> Counter[str]:
        """Outcomes of claims on surrogate data."""
        return self.counts.outcomes("surrogate data")


@dataclass(frozen=True)
class ChapterOnPage(Summary):
    """A chapter with its artefacts."""

    paper: Paper
    number: str
    origin: Origin | None

    @property
    def name(self) -> str:
        """Name of its page without the suffix."""
        return f"{self.paper.key}_ch{self.number}"

    @property
    def page(self) -> str:
        """Path of its page."""
        return page_of_chapter(self.paper.key, self.number)

    @property
    def id(self) -> str:
        """Id of its element on the overview."""
        return f"{self.paper.key}-ch{self.number}"

    @property
    def title(self) -> str:
        """Title of the chapter."""
        return self.paper.chapters[self.number]

    @property
    def short(self) -> str:
        """Chapter and number, or the key of a paper without chapters."""
        kind = "Chapter" if self.number.isdigit() else "Appendix"
        return f"{kind} {self.number}" if len(self.paper.chapters) > 1 else self.paper.key

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"{self.short}: {self.title}" if len(self.paper.chapters) > 1 else self.title

    @property
    def seconds(self) -> float:
        """Time that its results took."""
        return sum(tier.seconds or 0 for artefact in self.artefacts for tier in artefact.tiers)

    @property
    def untested(self) -> list[Untested]:
        """Claims without a test, in the order of the text."""

        def numbers_of_source(claim: Untested) -> list[int]:
            return [int(number) for number in re.findall(r"\d+", claim.source)]

        return sorted(self.paper.untested[self.number], key=numbers_of_source)


@dataclass(frozen=True)
class PaperOnPage(Summary):
    """A paper with its chapters."""

    about: Paper
    chapters: list[ChapterOnPage]

    @property
    def bibtex(self) -> str:
        """BibTeX or biber entry."""
        return bibtex(self.about)


def links_of(publication: Publication | Origin) -> list[tuple[str, str]]:
    """Text and URL of links to a paper, or to the paper behind a chapter."""
    links = []
    if publication.doi:
        links.append((f"doi {publication.doi}", f"https://doi.org/{publication.doi}"))
    if publication.arxiv:
        links.append((f"arXiv {publication.arxiv}", f"https://arxiv.org/abs/{publication.arxiv}"))
    if isinstance(publication, Publication) and publication.url:
        # Only the host is shown, because the full text may be on another page of that site.
        links.append((urlsplit(publication.url).netloc, publication.url))
    return links


def bibtex(paper: Paper) -> str:
    """BibTeX or biber entry of a paper, in UTF-8."""
    publication = paper.read_publication()
    fields = {
        "title": f"{{{_escape_bibtex(paper.title)}}}",
        "author": _escape_bibtex(" and ".join(name.strip() for name in paper.authors.split(","))),
        "year": str(paper.year),
        "school" if paper.kind == "thesis" else "booktitle": _escape_bibtex(
            publication.school or publication.booktitle or ""
        ),
        "pages": (publication.pages or "").replace("-", "--"),
        "isbn": publication.isbn or "",
        "doi": publication.doi or "",
        "url": publication.url or "",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    entry = "phdthesis" if paper.kind == "thesis" else "inproceedings"
    return "\n".join([f"@{entry}{{{paper.key},", *lines, "}"])


#: Characters that a backslash does not escape.
_COMMANDS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _escape_bibtex(text: str) -> str:
    return re.sub(r"[&%$#_{}\\~^]", lambda match: _COMMANDS.get(match[0], f"\\{match[0]}"), text)


@dataclass(frozen=True)
class Page(Summary):
    """Everything on the page."""

    papers: list[PaperOnPage]

    @property
    def kinds(self) -> dict[str, int]:
        """Number of papers by kind, the most frequent first."""
        return dict(Counter(paper.about.kind for paper in self.papers).most_common())

    @cached_property
    def failures(self) -> Failures:
        """What was not reproduced."""
        return failures_of(self.artefacts)


def build_page(
    papers: Mapping[str, Paper],
    results: Iterable[Result],
    folder: Path,
    repository: str | None = None,
) -> Page:
    """Collect what the page shows of a results folder."""
    by_artefact: dict[str, list[Result]] = {}
    for result in results:
        by_artefact.setdefault(result.artefact.id, []).append(result)
    counts = count_chapters(papers, [result for group in by_artefact.values() for result in group])
    jobs = read_lineage(folder)
    shown_papers = []
    for paper in papers.values():
        artefacts = []
        for artefact in paper.artefacts.values():
            if artefact.id not in by_artefact:
                raise RecordError(f"{artefact.id}: the report is missing; collect it in each tier.")
            entries = by_artefact[artefact.id]
            artefacts.append(artefact_on_page(artefact, entries, folder, jobs, repository))
        chapters = [
            ChapterOnPage(
                [one for one in artefacts if one.artefact.chapter == number],
                counts[paper.key, number],
                paper,
                number,
                paper.read_publication().origins.get(number),
            )
            for number in paper.chapters
        ]
        in_chapters = [artefact for chapter in chapters for artefact in chapter.artefacts]
        sums = total(chapter.counts for chapter in chapters)
        shown_papers.append(PaperOnPage(in_chapters, sums, paper, chapters))
    everything = [artefact for paper in shown_papers for artefact in paper.artefacts]
    return Page(everything, total(counts.values()), shown_papers)


class Reason(NamedTuple):
    """Cells of a table with the same reason for their verdicts."""

    cause: Cause | None
    finding: str
    cells: list[VerdictCell]


class FailedCells(NamedTuple):
    """Cells of an artefact with one verdict, grouped by reason."""

    artefact: ArtefactOnPage
    reasons: list[Reason]


class FailedClaim(NamedTuple):
    """A contradicted claim; without a test if published values contradict it."""

    artefact: ArtefactOnPage
    claim: ClaimOnPage
    test: ClaimTest | None = None


@dataclass(frozen=True)
class Failures:
    """Findings for reviewers: cells that differ, contradicted claims, untrusted results."""

    #: Verdict, or "copy" for our transcription errors -> tables.
    cells: dict[str, list[FailedCells]]
    #: State of the result, or "published" -> claims.
    claims: dict[str, list[FailedClaim]]
    #: Errata that are not the reason for the verdict of a cell.
    errata: list[tuple[ArtefactOnPage, JudgedErratum]]
    faults: list[tuple[ArtefactOnPage, TierOnPage, str]]

    @property
    def count(self) -> dict[str, int]:
        """Number of cells by verdict."""
        return {
            name: sum(len(reason.cells) for table in tables for reason in table.reasons)
            for name, tables in self.cells.items()
        }

    @property
    def explained(self) -> dict[Cause, int]:
        """Number of explained cells by cause."""
        reasons = [reason for table in self.cells["explained"] for reason in table.reasons]
        return {
            cause: sum(len(reason.cells) for reason in reasons if reason.cause == cause)
            for cause in CAUSE_NAMES
        }


def failures_of(artefacts: Sequence[ArtefactOnPage]) -> Failures:
    """Collect what was not reproduced."""
    # Our transcription errors are not evidence against the paper, so they are listed separately.
    names = ("different", "inconsistent", "explained", "copy", "too noisy to judge")
    failures = Failures(
        {name: [] for name in names}, {"reproduced": [], "published": [], "surrogate": []}, [], []
    )
    for artefact in artefacts:
        failures.faults.extend(
            (artefact, tier, fault) for tier in artefact.tiers for fault in tier.result.faults
        )
        causes = set()
        reasons: dict[str, dict[tuple[Cause | None, str], list[VerdictCell]]] = {}
        for cell in artefact.counted_cells:
            judged = cell.judged
            if judged.kind in UNCOUNTED or judged.verdict not in names:
                continue
            causes.add(judged.why)
            # A reason such as a sign test stays: without it, a cell within its tolerance would seem
            # to be different by mistake.
            reason = judged.source, without_spread(judged.why or "")
            by_reason = reasons.setdefault(
                "copy" if judged.source == "copy" else judged.verdict, {}
            )
            by_reason.setdefault(reason, []).append(cell)
        for name, by_reason in reasons.items():
            groups = [Reason(*reason, cells) for reason, cells in by_reason.items()]
            failures.cells[name].append(FailedCells(artefact, groups))
        failures.errata.extend(
            (artefact, erratum) for erratum in artefact.errata if erratum.finding not in causes
        )
        for claim in artefact.claims:
            # As in the headline, a claim counts in one tier, or not at all if it varies between
            # machines.
            failed_tests = [
                test
                for test in claim.tests
                if test.is_contradicted and test.tier is artefact.claims_count_in
            ]
            for test in failed_tests:
                failures.claims[test.tier.state].append(FailedClaim(artefact, claim, test))
            # Published values contradict the claim, and reproduced values do not.
            if claim.published == "contradicted" and not any(
                test.tier.state == "reproduced" for test in failed_tests
            ):
                failures.claims["published"].append(FailedClaim(artefact, claim))
    return failures
