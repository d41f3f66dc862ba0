"""An artefact on the page: its tiers with tables, pictures and files, its claims and errata."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from everycell.base.untrusted import read_json
from everycell.receipts.provenance import JobRecord
from everycell.records.claims import Claim
from everycell.records.folders import TIERS
from everycell.records.papers import Artefact
from everycell.records.registry import load_registry
from everycell.records.tables import RUNNABLE, Cause, DeclaredTier, State
from everycell.render.grid import Cell, Grid, shown_label
from everycell.render.page.sources import CodeLink, input_files, links_to_code
from everycell.render.verdict_tables import (
    SurrogateCell,
    VerdictCell,
    published_grid,
    supplement_grid,
    surrogate_grid,
    verdict_cells,
    verdict_grid,
)
from everycell.render.vocabulary import (
    FORMAT_NAMES,
    VERDICTS,
    label,
    page_of_chapter,
    section_and_page,
)
from everycell.verdicts.reports import (
    STATES,
    JudgedClaim,
    JudgedErratum,
    Report,
    Result,
    explained_by_source,
    reproduces_no_cell,
)


class Picture(NamedTuple):
    """A figure, or a supplementary one, with its files by format."""

    path: str
    title: str
    downloads: dict[str, str]


class Supplement(NamedTuple):
    """A supplementary table with its files by format."""

    title: str
    grid: Grid[Cell]
    downloads: dict[str, str]


@dataclass(frozen=True)
class TierOnPage:
    """A result in one tier."""

    result: Result
    #: Results folder, and the jobs in its lineage.
    folder: Path
    jobs: Sequence[JobRecord]
    #: Address of the repository on the web, if it is set.
    repository: str | None = None

    @property
    def artefact(self) -> Artefact:
        """Record and published cells."""
        return self.result.artefact

    @property
    def name(self) -> str:
        """Name of the tier."""
        return self.result.tier

    @property
    def report(self) -> Report:
        """Verdicts and outcomes of claims."""
        return self.result.report

    @property
    def state(self) -> State:
        """State of the result."""
        return self.result.report.state

    @property
    def declared(self) -> DeclaredTier:
        """Tier in the record."""
        return self.artefact.record.tiers[self.result.tier]

    @property
    def surrogate(self) -> str | None:
        """Name of the surrogate data, if there are any."""
        return self.report.foreign or self.declared.name

    @property
    def from_other_cells(self) -> bool:
        """Whether the values are based only on published ones."""
        return reproduces_no_cell(self.report)

    @property
    def home(self) -> str:
        """Folder of the result, relative to the results folder."""
        return f"{self.result.tier}/{self.artefact.paper}"

    @property
    def table(self) -> str:
        """Path of the table."""
        return f"{self.home}/{self.artefact.name}.csv"

    @property
    def command(self) -> str:
        """Command that makes the result."""
        return f"snakemake --cores 2 results/{self.table}"

    @property
    def attributes(self) -> dict[str, str | None]:
        """Data attributes of its table, for the panel of a cell."""
        return {
            "id": f"{self.artefact.id.replace('/', '-')}-{self.name}",
            "source": section_and_page(self.artefact.record.source),
            "tier": self.name,
            "receipt": self.receipt,
            "command": self.command,
        }

    @property
    def files(self) -> list[str]:
        """Names of the files of a result that was run."""
        return self.report.files if self.state in RUNNABLE else []

    @property
    def receipt(self) -> str | None:
        """Path of the receipt of a result that was run."""
        name = f"{self.home}/{self.artefact.name}.receipt.json"
        return name if self.state in RUNNABLE else None

    @cached_property
    def receipt_content(self) -> dict[str, Any] | None:
        """Receipt of a result that was run."""
        if self.receipt is None:
            return None
        return read_json(self.folder / self.receipt)

    @property
    def seconds(self) -> float | None:
        """Time that the result took."""
        return self.receipt_content["execution"]["seconds"] if self.receipt_content else None

    @cached_property
    def inputs(self) -> dict[str, list[tuple[str, str | None]]]:
        """Files behind the result that were not made by a job."""
        if self.receipt_content is None:
            return {}
        return input_files(self.receipt_content, self.jobs, load_registry())

    @property
    def code(self) -> list[CodeLink]:
        """Script or function that made the result, and its rule."""
        if self.receipt_content is None:
            return []
        root = self.artefact.folder.parents[1]
        return links_to_code(self.receipt_content, root, self.repository)

    @property
    def downloads(self) -> dict[str, str]:
        """Files of the table or figure by format."""
        return self._downloads(self.artefact.name)

    def _downloads(self, stem: str) -> dict[str, str]:
        return {
            name: f"{self.home}/{stem}.{suffix}"
            for suffix, name in FORMAT_NAMES.items()
            if f"{stem}.{suffix}" in self.files
        }

    @property
    def pictures(self) -> list[Picture]:
        """Figures of the result."""
        record = self.artefact.record
        return [
            Picture(
                f"{self.home}/{name}",
                record.supplements.get(name.split(".")[-2], record.title),
                self._downloads(name.removesuffix(".svg")),
            )
            for name in self.files
            if name.endswith(".svg")
        ]

    def embed(self, path: str) -> str:
        """Picture as a data URI, for a page without other files."""
        content = b64encode((self.folder / path).read_bytes()).decode()
        return f"data:image/svg+xml;base64,{content}"

    @property
    def supplements(self) -> list[Supplement]:
        """Supplementary tables that are not too long."""
        record, supplements = self.artefact.record, []
        for name, title in record.supplements.items():
            stem = f"{self.artefact.name}.{name}"
            if f"{stem}.csv" in self.files and f"{stem}.svg" not in self.files:
                path = self.folder / self.home / f"{stem}.csv"
                if grid := supplement_grid(path, record.names):
                    supplements.append(Supplement(title, grid, self._downloads(stem)))
        return supplements

    @cached_property
    def cells(self) -> list[VerdictCell]:
        """Compared cells of a reproduced result."""
        has_cells = self.state == "reproduced" and self.report.cells
        return verdict_cells(self.artefact, self.report) if has_cells else []

    @property
    def grid(self) -> Grid[VerdictCell]:
        """Compared cells in the layout of the record."""
        return verdict_grid(self.artefact, self.cells)

    @cached_property
    def surrogate_grid(self) -> Grid[SurrogateCell] | None:
        """Values that are not compared; those of a figure are in its picture.

        They are on surrogate data, or the paper states none.
        """
        name = self.artefact.name
        is_unpublished = self.state == "reproduced" and self.artefact.cells.empty
        if (
            not (self.state == "surrogate" or is_unpublished)
            or f"{name}.csv" not in self.files
            or f"{name}.svg" in self.files
        ):
            return None
        return surrogate_grid(self.artefact, self.folder / self.table)


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
