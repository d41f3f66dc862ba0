"""Where a work is published, and where its code and data are: part of its `paper.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everycell.engine.artefacts import read_card_file
from everycell.engine.cards import PaperFile
from everycell.engine.published_cells import CardError
from everycell.engine.validation import describe_fault

Url = Annotated[str, Field(pattern=r"^https://[^\s\"'<>]+$")]
Doi = Annotated[str, Field(pattern=r"^10\.\d{4,9}/[^\s\"'<>]+$")]
ArXiv = Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Repository(_Part):
    """A repository of code or data that belongs to the work."""

    url: Url
    holds: str = Field(min_length=3, description="What it holds, in words.")


class Origin(_Part):
    """The publication that a chapter of a thesis is based on."""

    published: str = Field(min_length=3, description="Where and when, with pages if known.")
    doi: Doi | None = None
    arxiv: ArXiv | None = None


class Publication(_Part):
    """A work's publication in `paper.yaml`; unknown fields are left out."""

    doi: Doi | None = None
    arxiv: ArXiv | None = None
    isbn: Annotated[str, Field(pattern=r"^[0-9-]{13,17}$")] | None = None
    #: Page of the publisher, or of the library that provides the work.
    url: Url | None = None
    #: For a thesis.
    school: str | None = None
    #: For a paper: title of the proceedings, and pages as 3-19.
    booktitle: str | None = None
    pages: Annotated[str, Field(pattern=r"^\d+(-\d+)?$")] | None = None
    #: Chapter -> its earlier publication.
    origins: dict[str, Origin] = {}
    code: list[Repository] = []
    data: list[Repository] = []


def read_publication(folder: Path | None) -> Publication:
    """Read a work's publication from its `paper.yaml`."""
    if folder is None:
        return Publication()
    path = folder / "paper.yaml"
    try:
        return Publication.model_validate(read_card_file(path, PaperFile).publication)
    except ValidationError as error:
        raise CardError(f"{path}: `publication`: {describe_fault(Publication, error)}") from None
