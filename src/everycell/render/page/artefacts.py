"""An artefact on the page, with its results, claims and errata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from everycell.receipts.provenance import JobRecord
from everycell.records.claims import Claim
from everycell.records.folders import TIERS
from everycell.records.papers import Artefact
from everycell.records.tables import RUNNABLE, Cause, State
from everycell.render.grid import Cell, Grid, shown_label
from everycell.render.page.tiers import TierOnPage
from everycell.render.verdict_tables import (
    VerdictCell,
    published_grid,
)
from everycell.render.vocabulary import (
    VERDICTS,
    label,
    page_of_chapter,
)
from everycell.verdicts.reports import (
    STATES,
    JudgedClaim,
    JudgedErratum,
    Result,
    explained_by_source,
)


class ClaimTest(NamedTuple):
    """Outcome of a claim in a tier that was run."""

    tier: TierOnPage
    judged: JudgedClaim

    @property
    def is_contradicted(self) -> bool:
        """Whether the values of this tier contradict the claim."""
        return self.judged.on_reproduced == "contradicted"


@dataclass(frozen=True)
class ClaimOnPage:
    """A claim with its outcomes on published values and in each tier."""

    id: str
    claim: Claim
    #: Outcome on published values.
    published: str
    #: Cause in the erratum that explains a contradiction.
    cause: Cause | None
    #: Text on the outcome on published values, if a tier was not run.
    detail: str | None
    tests: list[ClaimTest]


@dataclass(frozen=True)
class ArtefactOnPage:
    """An artefact with its results in all tiers, from the shallowest to the deepest."""

    artefact: Artefact
    tiers: list[TierOnPage]

    @property
    def id(self) -> str:
        """Id of its element on the page."""
        return self.artefact.id.replace("/", "-")

    @property
    def label(self) -> str:
        """Name as in the paper."""
        return label(self.artefact.name)

    @property
    def page(self) -> str:
        """Path of its page."""
        return page_of_chapter(self.artefact.paper, self.artefact.chapter)

    @property
    def search_words(self) -> str:
        """Published names of rows and columns, and claims."""
        record, cells = self.artefact.record, self.artefact.cells
        texts = [
            str(shown_label(name, str(key), record.names))
            for name in self.artefact.key_columns
            for key in cells[name]
        ]
        return " ".join(dict.fromkeys([*texts, *(claim.claim for claim in record.claims)]))

    @cached_property
    def state(self) -> State:
        """Best state of its tiers."""
        states = {tier.state for tier in self.tiers}
        return next(state for state in STATES if state in states)

    @cached_property
    def deepest(self) -> TierOnPage | None:
        """Deepest tier that reproduces it, in which its cells and claims count once."""
        return self._deepest_of("reproduced")

    def _deepest_of(self, state: State) -> TierOnPage | None:
        return next((tier for tier in reversed(self.tiers) if tier.state == state), None)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Number of published cells by verdict."""
        if self.deepest:
            return {**self.deepest.report.verdicts}
        state = self.state if self.state in ("quoted", "surrogate") else "not run"
        return {state: len(self.artefact.cells)}

    @property
    def explained(self) -> Mapping[Cause, int]:
        """Number of explained cells by cause."""
        return explained_by_source(self.deepest.report.cells) if self.deepest else {}

    @property
    def verdicts(self) -> list[str]:
        """Verdicts that occur."""
        return sorted(verdict for verdict, count in self.counts.items() if count)

    def verdicts_of(self, tier: TierOnPage) -> list[str]:
        """Verdicts to find a tier by: its own, or those of the artefact if no tier has any."""
        if not self.deepest:
            return self.verdicts
        counts = tier.report.verdicts if tier.state == "reproduced" else {}
        return [verdict for verdict in VERDICTS if counts.get(verdict)]

    @property
    def compared_tiers(self) -> list[TierOnPage]:
        """Tiers with compared cells."""
        return [tier for tier in self.tiers if tier.cells]

    @property
    def counted_cells(self) -> list[VerdictCell]:
        """Compared cells that count: those of the deepest tier that has any."""
        return self.compared_tiers[-1].cells if self.compared_tiers else []

    @property
    def published(self) -> Grid[Cell] | None:
        """Published cells, if no tier reproduces them."""
        if self.deepest or self.artefact.cells.empty:
            return None
        return published_grid(self.artefact)

    @cached_property
    def claims(self) -> list[ClaimOnPage]:
        """Claims in the order of the record."""
        record = self.artefact.record
        causes = {erratum.id: erratum.cause for erratum in record.errata}
        judged = [{claim.id: claim for claim in tier.report.claims} for tier in self.tiers]
        pairs = list(zip(self.tiers, judged, strict=True))
        return [
            ClaimOnPage(
                id=f"{self.id}-claim{number}",
                claim=claim,
                published=judged[0][claim.id].on_published,
                cause=causes.get(claim.erratum or ""),
                # Without a run, the report contains the outcome on published values.
                detail=next(
                    (
                        claims[claim.id].detail.removeprefix("published: ")
                        for tier, claims in pairs
                        if tier.state not in RUNNABLE
                    ),
                    None,
                ),
                tests=[
                    ClaimTest(tier, claims[claim.id])
                    for tier, claims in pairs
                    if tier.state in RUNNABLE
                ],
            )
            for number, claim in enumerate(record.claims, start=1)
        ]

    @property
    def errata(self) -> list[JudgedErratum]:
        """Errata with the findings of their audits."""
        return self.tiers[0].report.errata

    @property
    def failing(self) -> int:
        """Number of claims that the deepest tier contradicts."""
        tests = [test for claim in self.claims for test in claim.tests]
        return sum(test.is_contradicted and test.tier is self.deepest for test in tests)

    @property
    def claims_count_in(self) -> TierOnPage | None:
        """Tier whose contradicted claims are counted; None if they vary between machines."""
        tier = self.deepest or self._deepest_of("surrogate")
        return None if tier is None or tier.declared.varies else tier

    @property
    def not_testable(self) -> dict[str, list[str]]:
        """Reason why claims are not testable -> tiers, so that the page states each reason once."""
        reasons: dict[str, list[str]] = {}
        for tier in self.tiers:
            for claim in tier.report.claims:
                names = reasons.setdefault(claim.detail, [])
                if claim.on_reproduced == "not testable" and tier.name not in names:
                    names.append(tier.name)
        return {reason: names for reason, names in reasons.items() if names}

    @property
    def untestable(self) -> list[str]:
        """Why claims count as not testable, according to the deepest tier."""
        tier = self._deepest_of("surrogate")
        if self.deepest or tier is None:
            return []
        claims = tier.report.claims
        return [claim.detail for claim in claims if claim.on_reproduced == "not testable"]


def artefact_on_page(
    artefact: Artefact,
    results: Sequence[Result],
    folder: Path,
    jobs: Sequence[JobRecord],
    repository: str | None = None,
) -> ArtefactOnPage:
    """Artefact with its results, from the shallowest tier to the deepest."""
    ordered = sorted(results, key=lambda result: TIERS.index(result.tier))
    tiers = [TierOnPage(result, folder, jobs, repository) for result in ordered]
    return ArtefactOnPage(artefact, tiers)
