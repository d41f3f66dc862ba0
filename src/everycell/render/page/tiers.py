"""A result of an artefact in one tier on the page: tables, pictures, files and code."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from everycell.base.untrusted import read_json
from everycell.receipts.provenance import JobRecord
from everycell.records.papers import Artefact
from everycell.records.registry import load_registry
from everycell.records.tables import RUNNABLE, DeclaredTier, State
from everycell.render.grid import Cell, Grid
from everycell.render.page.sources import CodeLink, input_files, links_to_code
from everycell.render.verdict_tables import (
    SurrogateCell,
    VerdictCell,
    supplement_grid,
    surrogate_grid,
    verdict_cells,
    verdict_grid,
)
from everycell.render.vocabulary import (
    FORMAT_NAMES,
    section_and_page,
)
from everycell.verdicts.reports import (
    Report,
    Result,
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
    def shown_state(self) -> str:
        """State of the result as users read it."""
        return self.result.report.shown_state

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
