"""Papers, and their artefacts: tables and figures with their records and published cells.

Each folder of ``published/`` is a paper: ``paper.yaml`` describes it, and one YAML file per chapter
has a record for each of its tables and figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pandas as pd
from pydantic import AfterValidator, Field, ValidationError

from everycell.base.untrusted import text_of, without_secret
from everycell.base.validation import Strict, describe_fault
from everycell.base.yaml import line_of, read_model
from everycell.records.cells import (
    RecordError,
    Selector,
    count_decimals,
    drop_labels,
    is_number,
    key_columns,
    read_cells,
    select,
    select_any,
)
from everycell.records.claims import Untested
from everycell.records.folders import Tier
from everycell.records.sensitivity import Sensitivity, sensitivity_of
from everycell.records.tables import RUNNABLE, Record

ARTEFACT_ID = re.compile(r"(table|figure|text)_([0-9A-Z]+)(_[0-9A-Z]+)*")
#: Values of cells without a number, and the marker for them.
DASHES = ("-", "\u2013", "\u2014", "\u2212")
NOT_REPORTED = "not_reported"
Url = Annotated[str, Field(pattern=r"^https://[^\s\"'<>]+$"), AfterValidator(without_secret)]
Doi = Annotated[str, Field(pattern=r"^10\.\d{4,9}/[^\s\"'<>]+$")]
ArXiv = Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$")]


class Repository(Strict):
    """A repository with code or data of the paper."""

    url: Url = Field(description="Address.")
    holds: str = Field(min_length=3, description="Description of its content.")


class Origin(Strict):
    """The publication that a chapter of a thesis is based on."""

    published: str = Field(min_length=3, description="Venue and year, with pages if known.")
    doi: Doi | None = Field(None, description="DOI without `https://doi.org/`.")
    arxiv: ArXiv | None = Field(None, description="arXiv identifier, in quotation marks.")


class Publication(Strict):
    """Identifiers and addresses of a paper, its code and its data."""

    doi: Doi | None = Field(None, description="DOI without `https://doi.org/`.")
    arxiv: ArXiv | None = Field(
        None, description='arXiv identifier, in quotation marks, such as "2403.05975".'
    )
    isbn: Annotated[str, Field(pattern=r"^[0-9-]{13,17}$")] | None = Field(
        None, description="ISBN of a book or thesis."
    )
    url: Url | None = Field(None, description="Page of the publisher or library.")
    school: str | None = Field(None, description="University of a thesis.")
    booktitle: str | None = Field(None, description="Title of the proceedings.")
    pages: Annotated[str, Field(pattern=r"^\d+(-\d+)?$")] | None = Field(
        None, description="Pages, such as 3-19."
    )
    origins: dict[str, Origin] = Field({}, description="Chapter -> its earlier publication.")
    code: list[Repository] = Field([], description="Repositories of code.")
    data: list[Repository] = Field([], description="Repositories of data.")


def _check_authors(text: str) -> str:
    """Refuse names that are not separated by commas, or are missing."""
    if re.search(r";|&|\sand\s", text) or not all(name.strip() for name in text.split(",")):
        raise ValueError(f"{text!r} is not a list of names that are separated by commas only")
    return text


class PaperFile(Strict):
    """A paper: its `paper.yaml`."""

    title: str = Field(description="Title of the paper.")
    authors: Annotated[str, AfterValidator(_check_authors)] = Field(
        description="Authors, separated by commas."
    )
    year: int = Field(description="Year of publication.")
    kind: Literal["thesis", "paper"] = Field(
        description="In a `thesis`, the number of a table begins with its chapter."
    )
    reference: str = Field(description="Venue or publisher.")
    licence: str = Field(
        "none stated",
        description="Licence of your results and workflow: its address, or its name. "
        "`everycell deposit` states it.",
    )
    # Read by `Paper.read_publication`, so that a fault in it does not hide those of records.
    publication: dict[str, object] = Field(
        {}, description="Identifiers and addresses of the paper, its code and its data."
    )
    facts: list[str] = Field(
        [], description="CSV files of the folder that are not published values of an artefact."
    )


class ChapterFile(Strict):
    """A chapter, `chN.yaml`: the records of its tables, figures and passages of text."""

    chapter: str = Field(description='Number or letter, as text: `"1"`.')
    title: str = Field(description="Title in your own words.")
    source: str | None = Field(None, description="Pages or sections of the paper.")
    names: dict[str, str] = Field(
        {}, description="Defaults for `names` of all records of the chapter."
    )
    artefacts: dict[str, Record] = Field(
        description="Records by id: `table_4_8`, `figure_A_1`, `text_4_3`.",
        json_schema_extra={"propertyNames": {"pattern": "^(table|figure|text)(_[0-9A-Z]+)+$"}},
    )
    untested: list[Untested] = Field([], description="Claims that cannot be tested.")


class CellPrecision(NamedTuple):
    """How a published cell is compared with a reproduced one."""

    decimals: int | Literal["text"]
    measured: bool


class Artefact(Strict):
    """A record with its paper, chapter, id and file of published cells."""

    paper: str
    chapter: str
    name: str
    record: Record
    folder: Path

    @property
    def id(self) -> str:
        """``KEY/table_4_8``."""
        return f"{self.paper}/{self.name}"

    @property
    def cells_path(self) -> Path:
        """File of the published cells, which may not exist."""
        return self.folder / f"{self.name}.csv"

    @property
    def records_path(self) -> Path:
        """File with the records of the chapter."""
        return self.folder / f"ch{self.chapter}.yaml"

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Published cells as text, shape (n, k), or (0, 0) if there are none."""
        if not self.cells_path.exists():
            return pd.DataFrame()
        return read_cells(self.cells_path)

    @property
    def needs_cells(self) -> bool:
        """Whether there must be a file of published cells.

        A run table needs one, and so does everything else with declared decimals.
        """
        runs = any(tier.state in RUNNABLE for tier in self.record.tiers.values())
        has_values = self.record.kind == "table" or bool(self.record.decimals)
        return runs and has_values and not self.record.unpublished

    @property
    def key_columns(self) -> list[str]:
        """Columns that identify a cell."""
        return key_columns(self.cells)

    def decimals(self, metric: str) -> int | Literal["text"]:
        """Published decimals of a metric: declared, or else the most that any of its cells has."""
        declared = self.record.decimals.get(metric, self.record.decimals.get("all"))
        if declared is not None:
            return declared
        values = self.cells["value"]
        if "metric" in self.cells:
            values = values[self.cells["metric"] == metric]
        numbers = values[values.map(is_number)]
        if numbers.empty:
            return "text"
        return int(numbers.map(count_decimals).max())

    @cached_property
    def precisions(self) -> list[CellPrecision]:
        """How each published cell is compared, in the order of `cells`."""
        metrics = self.cells.get("metric", pd.Series("all", self.cells.index))
        decimals_by_metric = {metric: self.decimals(metric) for metric in metrics.unique()}
        precisions = [
            CellPrecision(decimals_by_metric[metric], measured=False) for metric in metrics
        ]
        for entry in self.record.precision:
            for row in self.select(entry.cells).to_numpy().nonzero()[0]:
                decimals = precisions[row].decimals if entry.decimals is None else entry.decimals
                precisions[row] = CellPrecision(decimals, entry.measured)
        return precisions

    @cached_property
    def empty_rows(self) -> list[int]:
        """Rows of cells that have only a dash, for a value that the paper does not report.

        A dash is a value of its own where the metric is text, such as an effect size.
        """
        markers = self.cells.get("marker", pd.Series("", self.cells.index))
        declared = pd.Series(False, index=self.cells.index)
        for selector in self.record.kinds.get("empty", ()):
            declared |= self.select(selector)
        rows = zip(self.cells["value"], self.precisions, markers, declared, strict=True)
        return [
            row
            for row, (value, (digits, _), marker, is_declared) in enumerate(rows)
            if is_declared
            or (value.strip() in DASHES and (digits != "text" or marker == NOT_REPORTED))
        ]

    def sensitivity(self, tier: str, key: Mapping[str, str]) -> Sensitivity:
        """Data with which a reproduced value moves, from ``published/sensitivity.csv``."""
        cell = (tier, self.id, " / ".join(key.values()))
        return sensitivity_of(self.folder.parent).get(cell, Sensitivity())

    def drop_labels(self, table: pd.DataFrame) -> pd.DataFrame:
        """Drop the label columns of a table of this artefact, as tests of claims require."""
        return drop_labels(table, self.record.labels, where=self.id)

    def select(self, selector: Mapping[str, str | list[str]]) -> pd.Series:
        """Select cells as a boolean mask over `cells`; refuse unknown columns and values."""
        return select(self.cells, selector, where=self.id)

    def is_compared(self, tier: Tier) -> pd.Series:
        """Mask of the cells that are compared in a tier: neither quoted nor declared as not run."""
        excluded = [
            *(entry.cells for entry in self.record.not_run if entry.tier == tier),
            *(entry.cells for entry in self.record.quoted if tier in entry.tiers),
        ]
        mask = pd.Series(True, index=self.cells.index)
        mask.iloc[self.empty_rows] = False
        for selector in excluded:
            mask &= ~self.select(selector)
        return mask

    def declared_inputs(self, tier: Tier | None = None) -> list[Selector]:
        """Selectors of the cells that a rule may read, in a tier or in any tier."""
        return [
            entry.cells
            for entry in self.record.quoted
            if entry.is_input and (tier is None or tier in entry.tiers)
        ]

    def input_cells(self, tier: Tier | None = None) -> pd.DataFrame:
        """Published cells that a rule may read, in a tier or in any tier."""
        return select_any(self.cells, self.declared_inputs(tier), where=self.id)


class Paper(PaperFile):
    """A paper with its artefacts in the order of their records."""

    key: str
    folder: Path
    chapters: dict[str, str]
    #: Claims of each chapter that cannot be tested here.
    untested: dict[str, list[Untested]]
    artefacts: dict[str, Artefact]

    def read_publication(self) -> Publication:
        """Identifiers and addresses of the paper, validated."""
        try:
            return Publication.model_validate(self.publication)
        except ValidationError as error:
            fault = describe_fault(Publication, error)
            raise RecordError(f"{self.folder / 'paper.yaml'}: `publication`: {fault}") from None


def load_papers(folder: Path) -> dict[str, Paper]:
    """Read all papers of a folder, sorted by key, without checking cells against records."""
    papers: dict[str, Paper] = {}
    for chapter_file in sorted(folder.glob("*/ch*.yaml")):
        if not chapter_file.with_name("paper.yaml").exists():
            raise RecordError(
                f"{chapter_file}: the folder has no paper.yaml; write one with the paper's details."
            )
    for paper_file in sorted(folder.glob("*/paper.yaml")):
        papers[paper_file.parent.name] = load_paper(paper_file.parent)
    if not papers:
        raise RecordError(f"{folder} contains no paper; a paper is a folder with a paper.yaml.")
    return papers


def load_paper(folder: Path) -> Paper:
    """Read one paper without checking cells against records."""
    about = read_model(folder / "paper.yaml", PaperFile, RecordError)
    chapters: dict[str, str] = {}
    untested: dict[str, list[Untested]] = {}
    artefacts: dict[str, Artefact] = {}
    for chapter_file in sorted(folder.glob("ch*.yaml"), key=lambda path: _chapter_order(path)):
        chapter = read_model(chapter_file, ChapterFile, RecordError)
        if chapter_file.name != f"ch{chapter.chapter}.yaml":
            line = line_of(text_of(chapter_file), ["chapter"])
            raise RecordError(
                f"{chapter_file}, line {line}: `chapter` is {chapter.chapter!r}; rename the file "
                f"to ch{chapter.chapter}.yaml or correct `chapter`."
            )
        chapters[chapter.chapter] = chapter.title
        untested[chapter.chapter] = chapter.untested
        for name, record in chapter.artefacts.items():
            fault = ""
            if not ARTEFACT_ID.fullmatch(name):
                fault = (
                    f"{name!r} is not a valid artefact id; expected an id such as table_4_8, "
                    "figure_A_1 or text_4_4_4"
                )
            elif name in artefacts:
                fault = (
                    f"{name} already has a record in {artefacts[name].records_path}; remove one of "
                    "the two"
                )
            if fault:
                line = line_of(text_of(chapter_file), ["artefacts", name])
                raise RecordError(f"{chapter_file}, line {line}: {fault}.")
            record = record.model_copy(update={"names": chapter.names | record.names})
            artefacts[name] = Artefact(
                paper=folder.name, chapter=chapter.chapter, name=name, record=record, folder=folder
            )
    return Paper(
        **dict(about),
        key=folder.name,
        folder=folder,
        chapters=chapters,
        untested=untested,
        artefacts=artefacts,
    )


def _chapter_order(path: Path) -> tuple[int, str]:
    chapter = path.stem.removeprefix("ch")
    return (int(chapter), "") if chapter.isdigit() else (10**6, chapter)


def all_artefacts(papers: Mapping[str, Paper]) -> Iterator[Artefact]:
    """Artefacts of all papers, in the order of papers, chapters and records."""
    for paper in papers.values():
        yield from paper.artefacts.values()


def find_artefact(papers: Mapping[str, Paper], name: str) -> Artefact:
    """Find an artefact by its id, or suggest similar ids in an error."""
    artefacts_by_id = {artefact.id: artefact for artefact in all_artefacts(papers)}
    if name in artefacts_by_id:
        return artefacts_by_id[name]
    matches = get_close_matches(name, [*papers, *artefacts_by_id], n=3, cutoff=0.3)
    hint = f"did you mean {', '.join(matches)}" if matches else "see `everycell list`"
    raise RecordError(f"{name!r} is not a known artefact; {hint}.")
